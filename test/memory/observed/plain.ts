import type { Observed } from '../../../memory/observed/observed.js';

/** @returns all that an observed session shows, comparable */
export function plain(fold: Observed) {
  const { nameOf: _, todos, agents, shell, ...rest } = fold;
  return {
    ...rest,
    files: [...rest.files],
    tokens: [...rest.tokens],
    touched: [...rest.touched],
    shell: [shell.unfinished, [...shell.finished]],
    waits: [...rest.waits],
    todos: todos.list,
    agents: agents.list(),
    calls: fold.openCalls(),
  };
}
