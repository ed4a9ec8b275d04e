/** The two things that a page of others' words must get right: what is text stays text, and links lead somewhere. */

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const ADDRESS = /https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]]/g;
/** Servers on this machine are gone when anybody reads the page. */
const HERE = /^https?:\/\/(?:localhost|127\.|\[::1\])/i;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? sign);
}

export class Links {
  readonly #issues: ReadonlyMap<string, number>;

  constructor(issues: readonly { readonly url: string; readonly number: number }[]) {
    this.#issues = new Map(issues.map(({ url, number }) => [url, number]));
  }

  /** @returns where a link leads on the page or in the world; null where nothing is there any more */
  target(address: string): string | null {
    const number = this.#issues.get(address);
    if (number !== undefined) return `#issue-${number}`;
    return /^https?:\/\//i.test(address) && !HERE.test(address) ? address : null;
  }

  /** @param label HTML */
  anchor(address: string, label: string): string {
    const target = this.target(address);
    return target === null ? label : `<a href="${escapeHtml(target)}">${label}</a>`;
  }

  /** @returns HTML of a text whose bare addresses are links */
  inText(text: string): string {
    let html = '';
    let at = 0;
    for (const { 0: address, index } of text.matchAll(ADDRESS)) {
      html += escapeHtml(text.slice(at, index)) + this.anchor(address, escapeHtml(address));
      at = index + address.length;
    }
    return html + escapeHtml(text.slice(at));
  }
}
