import { expect, test } from '@jest/globals';
import { unusedProxyIn } from '../../../src/config/proxies.js';

const ADDRESSES = { TELEGRAM_API_ROOT: 'https://api.telegram.org', GITHUB_API_URL: 'https://api.github.com' };
const PROXY = { HTTPS_PROXY: 'http://user:secret@10.0.0.1:3128' };

// rule: an-unused-proxy-is-named
test('a proxy that is named and not used is said, with what to do, and without its password', () => {
  const said = unusedProxyIn(PROXY, ADDRESSES);
  expect(said).toMatchObject({
    found:
      'HTTPS_PROXY names a proxy, which the bridge does not use: it asks api.telegram.org and api.github.com directly',
    remedy: expect.stringContaining('set TELEGRAM_API_ROOT and GITHUB_API_URL to a server that passes requests on'),
  });
  expect(JSON.stringify(said)).not.toContain('secret');
  for (const name of ['http_proxy', 'ALL_PROXY', 'https_proxy']) {
    expect(unusedProxyIn({ [name]: 'x' }, ADDRESSES)?.variable).toBe(name);
  }
});

test.each([
  ['no proxy', {}, ADDRESSES],
  ['an empty one', { HTTPS_PROXY: '' }, ADDRESSES],
  ['NO_PROXY for all', { ...PROXY, NO_PROXY: '*' }, ADDRESSES],
  ['NO_PROXY for both', { ...PROXY, no_proxy: 'localhost, .telegram.org, api.github.com:443' }, ADDRESSES],
  ['servers of this host', PROXY, { TELEGRAM_API_ROOT: 'http://127.0.0.1:8081', GITHUB_API_URL: 'http://localhost:1' }],
  ['nobody who is asked', PROXY, { TELEGRAM_API_ROOT: null, GITHUB_API_URL: null }],
])('%s: there is nothing to say', (_, environment, addresses) => {
  expect(unusedProxyIn(environment, addresses)).toBeNull();
});

test('NO_PROXY leaves out what it names alone', () => {
  expect(unusedProxyIn({ ...PROXY, NO_PROXY: 'telegram.org' }, ADDRESSES)?.found).toMatch(
    /asks api\.github\.com directly$/,
  );
  expect(unusedProxyIn({ ...PROXY, NO_PROXY: 'gram.org' }, ADDRESSES)?.found).toContain('api.telegram.org');
});
