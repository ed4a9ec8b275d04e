/** A text for a shell in its single commands. */

/** How a command is joined to the next one. Empty after the last. */
export type Joint = '&&' | '||' | '|' | ';' | '&' | '\n' | '';

export interface CommandPart {
  readonly text: string;
  readonly joint: Joint;
}

/** @returns the commands in their order, without empty ones and comments. Quoted text is not divided */
export function commandsIn(command: string): CommandPart[] {
  const parts: CommandPart[] = [];
  let part = '';
  let quote = '';
  const end = (joint: Joint) => {
    const text = part.trim();
    if (text !== '' && !text.startsWith('#')) parts.push({ text, joint });
    part = '';
  };
  for (let at = 0; at < command.length; at += 1) {
    const letter = command.charAt(at);
    if (quote !== '' || letter === '"' || letter === "'") {
      if (quote === '') quote = letter;
      else if (letter === '\\' && quote === '"') part += command.charAt(at++);
      else if (letter === quote) quote = '';
      part += command.charAt(at);
      continue;
    }
    const two = command.slice(at, at + 2);
    // `2>&1` and `&>` join nothing.
    if (!/[;|&\n]/.test(letter) || (letter === '&' && (/[<>]$/.test(part) || two === '&>'))) {
      part += letter;
      continue;
    }
    if (two === '&&' || two === '||') at += 1;
    end(two === '&&' || two === '||' ? two : (letter as Joint));
  }
  end('');
  return parts;
}
