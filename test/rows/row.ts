/** What a row of the list of features asks for, and how it is proven: by answers of the command line, and by nothing else. */
import type { RowScene } from './scene.js';

export interface Check {
  readonly row: string;
  readonly check: string;
  /** Throws if it does not hold. */
  prove(scene: RowScene): void | Promise<void>;
}

export interface Owed {
  readonly row: string;
  readonly check: string;
  /** The part of the program that it cannot be checked without, and that is not there yet. */
  readonly needs: 'the plugin';
}

export type RowCheck = Check | Owed;
