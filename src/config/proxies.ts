/** The libraries that talk to Telegram and GitHub use no proxy. Without a word, a host would look like one that is broken. */

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];
const ALONE = ['NO_PROXY', 'no_proxy'];
const OWN_HOST = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

export interface UnusedProxy {
  readonly variable: string;
  /** A sentence: what was seen. */
  readonly found: string;
  /** A clause: what to do. */
  readonly remedy: string;
}

/** @returns null if no proxy is named, or all the addresses are to be asked without one */
export function unusedProxyIn(
  environment: Readonly<Record<string, string | undefined>>,
  addresses: Readonly<Record<string, string | null>>,
): UnusedProxy | null {
  const variable = VARIABLES.find((name) => environment[name]);
  if (variable === undefined) return null;
  const without = ALONE.flatMap((name) => (environment[name] ?? '').split(',')).map((each) => each.trim());
  const asked = Object.entries(addresses).flatMap(([name, address]) => {
    const host = address === null ? null : hostOf(address);
    return host === null || OWN_HOST.test(host) || isWithout(host, without) ? [] : [{ name, host }];
  });
  if (asked.length === 0) return null;
  const hosts = asked.map(({ host }) => host).join(' and ');
  return {
    variable,
    found: `${variable} names a proxy, which the bridge does not use: it asks ${hosts} directly`,
    remedy: `if this host has no other way out, set ${asked.map(({ name }) => name).join(' and ')} to a server that passes requests on; agents get the proxy if AGENT_ENV names its variables`,
  };
}

function hostOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).hostname : null;
}

/** As curl reads the variable: a domain holds for the names below it, and `*` for everything. */
function isWithout(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => {
    const bare = domain.replace(/^\*?\./, '').replace(/:\d+$/, '');
    return domain === '*' || (bare !== '' && (host === bare || host.endsWith(`.${bare}`)));
  });
}
