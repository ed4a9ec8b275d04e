/** The HTML of the specification's examples as a tree. Nothing else: no entities but the four, no forgiveness. */

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
}
export type Node = Element | string;

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>/gy;
const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)")?/g;
const VOID = ['img', 'br', 'hr', 'input'];
const REFERENCES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };

/** @throws Error where a tag has no partner */
export function parseTree(html: string): readonly Node[] {
  const root: Node[] = [];
  const open: { tag: string; children: Node[] }[] = [{ tag: '', children: root }];
  let at = 0;
  while (at < html.length) {
    TAG.lastIndex = at;
    const found = html[at] === '<' ? TAG.exec(html) : null;
    const here = open.at(-1);
    if (here === undefined) throw new Error(`too many end tags in ${html}`);
    if (found === null) {
      const next = html.indexOf('<', at + 1);
      const end = next < 0 ? html.length : next;
      here.children.push(unescaped(html.slice(at, end)));
      at = end;
      continue;
    }
    const [whole, slash, tag = '', attributes = ''] = found;
    at += whole.length;
    if (slash === '/') {
      if (here.tag !== tag) throw new Error(`</${tag}> closes <${here.tag}> in ${html}`);
      open.pop();
      continue;
    }
    const children: Node[] = [];
    here.children.push({ tag, attributes: attributesOf(attributes), children });
    if (!VOID.includes(tag)) open.push({ tag, children });
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)?.tag}> has no end in ${html}`);
  return root;
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, unescaped(value ?? '')]));
}

function unescaped(text: string): string {
  return text.replace(/&(?:lt|gt|quot|amp);/g, (reference) => REFERENCES[reference] ?? reference);
}
