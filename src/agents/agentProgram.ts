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
  /** @returns whether a file is its transcript by its name alone */
  isTranscript(file: string): boolean;
  /**
   * @param words of its process
   * @param variable reads one with which it was started
   * @returns whether it may have been told to keep no transcript
   */
  isUnrecorded(words: readonly string[], variable: (name: string) => string | null): boolean;
  /** @param words of its process. @returns whether it was started without a screen on which a hook's message is seen */
  isHeadless(words: readonly string[]): boolean;
}

/** The variables that say where the programs keep their files. */
export interface ProgramFolders {
  readonly HOME?: string | undefined;
  readonly CLAUDE_CONFIG_DIR?: string | undefined;
  readonly CODEX_HOME?: string | undefined;
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
