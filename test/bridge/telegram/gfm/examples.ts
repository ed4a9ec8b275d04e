/**
 * What the GitHub Flavored Markdown Spec 0.29 gives examples of: those of CommonMark 0.29, which it is based on, and one of our
 * own for each example of its extensions.
 */
import { tests } from 'commonmark-spec';
import { EXTENSIONS } from './extensions.js';

export interface Example {
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

/** The specification shows a tab as an arrow. */
const tabbed = (text: string) => text.replaceAll('→', '\t');

export const EXAMPLES: readonly Example[] = [
  ...tests.map(({ section, markdown, html }) => ({
    section,
    markdown: tabbed(markdown),
    html: tabbed(html),
  })),
  ...EXTENSIONS,
];
