/** The package has no types of its own. */
declare module 'commonmark-spec' {
  export const tests: readonly { readonly section: string; readonly markdown: string; readonly html: string }[];
}
