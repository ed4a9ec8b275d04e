/** A program that runs agents, as all rooms know it. */
export interface AgentProgram {
  /** As records name it. */
  readonly name: string;
  /** As people call it. */
  readonly title: string;
  /** How its processes are called. */
  readonly processes: readonly string[];
  /** The words that a person types before a conversation's id to continue it. */
  readonly resume: string;
  /** The variable that names its conversation to the processes that it starts. */
  readonly conversationVariable: 'CLAUDE_CODE_SESSION_ID' | 'CODEX_THREAD_ID';
  /** The variable by which a person moves its files. */
  readonly folderVariable: keyof ProgramFolders;
  /** Where it keeps transcripts. */
  transcripts(folders: ProgramFolders): TranscriptPlace;
  /** Where it keeps what people typed in all conversations. */
  history(folders: ProgramFolders): HistoryPlace;
  /** @returns whether a file is its transcript by its name alone */
  isTranscript(file: string): boolean;
  /**
   * @param words of its process
   * @param variable reads one with which it was started
   * @returns whether it may keep no transcript
   */
  isUnrecorded(words: readonly string[], variable: (name: string) => string | null): boolean;
  /** @param words of its process. @returns whether it was started without a screen on which a hook's message is seen */
  isHeadless(words: readonly string[]): boolean;
  /** Whether windows with different conversations may share one process. */
  readonly sharesProcess: boolean;
  /** The members of what it adds to a call of an MCP tool: the conversation (null if it names none), and its own id of the call. */
  readonly callMeta: { readonly conversation: string | null; readonly call: string };
  /** Whether its hooks report its end when its terminal is closed. */
  readonly reportsClosedWindow: boolean;
  /**
   * @param directory in which it was started
   * @param words of its process; none if it is gone
   * @returns whether a person has switched off its hooks there, and with them what is recorded
   */
  isSwitchedOff(folders: ProgramFolders, directory: string, words: readonly string[]): boolean;
  /** Where it publishes the state of its processes. Null if it publishes none. */
  publishes(folders: ProgramFolders): PublishedPlace | null;
  /** @param words of its process. @returns whether it works for several conversations, and so belongs to none of them */
  isServer(words: readonly string[]): boolean;
  /** @param words of its process. @returns whether it only starts processes that work: it has no conversation, and is no agent */
  isSupervisor(words: readonly string[]): boolean;
}

/** The variables that say where the programs keep their files. */
export const FOLDER_VARIABLES = ['HOME', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME'] as const;
export type ProgramFolders = { readonly [Name in (typeof FOLDER_VARIABLES)[number]]?: string | undefined };

/** A file with an object in each line, the latest last. Its texts are foreign. */
export interface HistoryPlace {
  readonly path: string;
  /** The members with the id of the conversation, and with what was typed. */
  readonly conversation: string;
  readonly typed: string;
  /** The member with the instant, UTC epoch milliseconds. Not set if no history is taken as complete. */
  readonly at?: string;
}

/** A folder with a file for each process of the program. Its texts are foreign. */
export interface PublishedPlace {
  readonly folder: string;
  /** @returns the name of the file of a process */
  fileOf(pid: number): string;
  /** @returns the process of a file, by its name; null if it is another file */
  pidOf(file: string): number | null;
  /** @returns null if the fields are not those of a process with a conversation */
  stateIn(fields: Readonly<Record<string, unknown>>): PublishedState | null;
  /** The file of the process that starts others, and starts them again if they die. */
  readonly supervisor: string;
  /** @returns null if the fields are not those of such a process */
  supervisedIn(fields: Readonly<Record<string, unknown>>): Supervised | null;
}

/** A process that starts agents again if they die, and their conversations. */
export interface Supervised {
  readonly supervisor: number;
  readonly conversations: readonly string[];
}

/** The program's own word on one of its processes. Instants are UTC epoch milliseconds. */
export interface PublishedState {
  readonly pid: number;
  /** Field 22 of `/proc/{pid}/stat`. */
  readonly pid_start: string;
  /** The host and the pid namespace that the pid belongs to. */
  readonly machine: string;
  readonly pid_namespace: string;
  readonly conversation: string;
  readonly directory: string;
  /** When the process took up the conversation. */
  readonly started_at: number;
  /** Whether a person started it in a terminal, or lets it work in the background. Others belong to a program. */
  readonly is_persons: boolean;
  /** `shell`: its turn is over, and a command runs in the background. Null if it does not say. */
  readonly status: 'idle' | 'busy' | 'waiting' | 'shell' | null;
  /** The dialog that it waits for. Null if it does not wait, or does not say. */
  readonly waiting_for: string | null;
  /** When the status changed. */
  readonly status_at: number;
}

export interface TranscriptPlace {
  readonly folder: string;
  /** How many levels of folders are between that one and a transcript. */
  readonly levels: number;
  /** Further folders, without levels, to which a person moves transcripts. */
  readonly archives?: readonly string[];
  /** The id is foreign text: it is compared, and never made a part of a path. */
  isTranscriptOf(file: string, conversation: string): boolean;
}
