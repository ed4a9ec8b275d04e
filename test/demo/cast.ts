/** Who asks for what in the demo, in which chat, and the words by which each answer is known. */

export const CHATS = {
  website: { id: 1001, title: 'Ada', speaker: 'Ada', topic: null },
  shop: { id: 1002, title: 'Ben', speaker: 'Ben', topic: null },
  docs: { id: -1003, title: 'Docs team', speaker: 'Cleo', topic: 'Releases' },
} as const;

export type Project = keyof typeof CHATS;

/** One message and what becomes of it. Three share a project, whose new issues are few per hour. */
export const STORIES = {
  healthy: {
    project: 'website',
    asked: 'Add a contact page',
    answer: 'The contact page is there, and the tests pass.',
  },
  hang: {
    project: 'shop',
    asked: 'Run the migration of the orders table',
    answer: 'The migration is done: 3 tables changed.',
  },
  cascade: {
    project: 'shop',
    asked: 'Make the checkout tests pass',
    answer: 'The checkout tests pass; a port was taken.',
  },
  killed: {
    project: 'shop',
    asked: 'Upgrade the build to the new toolchain',
    answer: 'The build runs on the new toolchain.',
  },
  crash: { project: 'docs', asked: 'Publish the release notes', answer: '' },
} as const satisfies Record<string, { project: Project; asked: string; answer: string }>;

export type Story = keyof typeof STORIES;

export const FAILING_BATCHES = 6;

/** As coding agents write them. */
export const ANSWER_IN_MARKDOWN = `**${STORIES.healthy.answer}**

| file | change | lines |
|---|---|---:|
| \`pages/contact.html\` | new, with the form | 48 |
| \`pages/about.html\` | links to it | 2 |

To look at it:

\`\`\`sh
npm start -- --open contact
\`\`\`

- [x] form, with the fields of the old page
- [ ] protection against spam

> The last one needs a key from you.
`;
