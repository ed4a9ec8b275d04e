/** The subject of a call, and the work in its result: tasks and files, by typed fields only. Texts are redacted and cut. */
import type { ObservedEvent, PlanItem } from '../../journal/schema.js';

/** The part of a call that its result does not repeat. */
export interface Asked {
  readonly tool: string;
  readonly path?: string;
  readonly task?: TaskPart;
  readonly blockers?: readonly string[];
  readonly todos?: readonly PlanItem[];
}

/** The part of a typed result that shows the work done. */
export interface Done {
  readonly path?: string;
  readonly isNew?: boolean;
  readonly task?: TaskPart;
  readonly tasks?: readonly PlanItem[];
  readonly todos?: readonly PlanItem[];
  readonly changes?: Changes;
  /** The call changed nothing, although its result is no error. */
  readonly isVoid?: boolean;
}

/** Tokens of a message. */
export type Usage = Extract<ObservedEvent, { event: 'usage' }>;

/** As much of a task as one call names. */
export interface TaskPart {
  readonly id?: string;
  readonly title?: string;
  /** In the program's own words. */
  readonly status?: string;
}

/** The changes of a shell command. */
export interface Changes {
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly deleted?: readonly string[];
  /** Its program does not say how. */
  readonly changed?: readonly string[];
  readonly renamed?: readonly { readonly from: string; readonly to: string }[];
  /** How many others, which its program does not name. */
  readonly more?: number;
}
