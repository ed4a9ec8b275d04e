/** What a row of the list of features asks for, and how it is proven: by answers of the command line, and by nothing else. */
import type { RowScene } from './scene.js';

export interface RowCheck {
  readonly row: string;
  readonly check: string;
  /** Throws if it does not hold. */
  prove(scene: RowScene): void | Promise<void>;
}
