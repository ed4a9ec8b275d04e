import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/host/program.js';
import { createRedactor, ownSecretsIn, redactJsonLine, secretsInAddress } from '../../../src/log/redact.js';
import { withoutInvisible } from '../../../src/log/visibleText.js';
import { patience } from '../../harness/patience.js';

const BOT_TOKEN = '5294327191:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc';
const redact = createRedactor([]);

describe('our own secrets', () => {
  const own = 'Kq7/pass+word"=x\\9';
  const redactOwn = createRedactor([own, 'short']);

  test.each([
    ['as it is', own],
    ['in JSON', JSON.stringify({ own })],
    ['in a URL', `https://example.org/?q=${encodeURIComponent(own)}`],
    ['in a URL, lower-case hex', encodeURIComponent(own).replace(/%../g, (hex) => hex.toLowerCase())],
    ['in a form', new URLSearchParams({ own }).toString()],
    ['in base64', Buffer.from(own).toString('base64')],
    ['in base64url', Buffer.from(own).toString('base64url')],
    ['in base64 after one byte', Buffer.from(`u${own}`).toString('base64')],
    ['in base64 after a user name', Buffer.from(`user:${own}:more`).toString('base64')],
  ])('%s', (_name, text) => {
    const result = redactOwn(text);
    expect(result).toContain('[redacted:own_secret]');
    expect(result).not.toContain(own);
  });

  test('a longer secret is replaced whole, although a shorter one is its prefix', () => {
    const result = createRedactor(['abcdef', 'abcdefghijkl'])('x abcdefghijkl y abcdef z');
    expect(result).toBe('x [redacted:own_secret] y [redacted:own_secret] z');
  });

  test('values under six characters are left out, and a lone surrogate is accepted', () => {
    expect(createRedactor(['abc', '', 'bad\ud800secret'])('abc bad\ud800secret')).toBe('abc [redacted:own_secret]');
  });
});

describe('shapes of secrets', () => {
  const secrets: readonly [kind: string, secret: string, text?: string][] = [
    ['bot_token', BOT_TOKEN],
    ['bot_token', BOT_TOKEN, `request to https://api.telegram.org/bot${BOT_TOKEN}/getMe failed`],
    ['bot_token', 'AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc', `/bot5294327191%3AAAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc/getMe`],
    ['github_token', `ghp_${'a1B2'.repeat(9)}`],
    ['github_token', `gho_${'a1B2'.repeat(9)}`, `x-oauth gho_${'a1B2'.repeat(9)}!`],
    ['github_token', `ghs_${'a1B2'.repeat(9)}`],
    ['github_token', `ghu_${'a1B2'.repeat(9)}`],
    ['github_token', `ghr_${'a1B2'.repeat(9)}`],
    ['github_token', `github_pat_11ABCDEFG0_${'a1B2'.repeat(10)}`],
    ['api_key', `sk-ant-oat01-${'a1_B-'.repeat(8)}`],
    ['api_key', `sk-proj-${'a1B2'.repeat(10)}`],
    ['api_key', `sk-${'a1B2'.repeat(10)}`, `line one\\nsk-${'a1B2'.repeat(10)}`],
    ['api_key', `sk-${'a1B2'.repeat(10)}`, `\u001b[31msk-${'a1B2'.repeat(10)}\u001b[0m`],
    ['api_key', `AIza${'a1B2_'.repeat(7)}`],
    ['aws_key', 'AKIAIOSFODNN7EXAMPLE'],
    [
      'value',
      'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      'aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    ],
    ['slack_token', 'xoxb-2345678901-abcdefABCDEF'],
    ['jwt', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'],
    [
      'jwt',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4',
      'out:\\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4',
    ],
    ['authorization', 'abc.def', 'Authorization: Bearer abc.def'],
    ['authorization', 'dXNlcjpwYXNz', '{"authorization":"Basic dXNlcjpwYXNz"}'],
    ['authorization', 'mF_9.B5f-4.1JqM', 'sent bearer mF_9.B5f-4.1JqM twice'],
    ['password', 'hunter2', 'redis://default:hunter2@cache:6379/0'],
    ['password', 'hunter2', 'redis://:hunter2@cache:6379/0'],
    ['password', '0123456789abcdef0123456789abcdef', 'https://0123456789abcdef0123456789abcdef@sentry.example/1'],
    ['value', 'hunter2', 'DB_PASSWORD=hunter2 npm start'],
    ['value', 'correct horse', 'export DB_PASSWORD="correct horse"'],
    ['value', 'hunter2', 'MY_API_KEY: hunter2'],
    ['value', 'hunter2', '{"client_secret": "hunter2"}'],
    ['value', 'hunter2', JSON.stringify({ output: '{"refresh_token":"hunter2"}' })],
    ['value', 'hunter2', 'https://example.org/?access_token=hunter2&x=1'],
    ['value', 'hunter2', 'password: hunter2'],
    ['value', 'swordfish', 'password: "swordfish"'],
    ['value', 'hunter2secret', 'PGPASSWORD=hunter2secret psql'],
    ['value', 'hunter2secret', 'mytool --password=hunter2secret --verbose'],
    ['value', 'hunter2secret', 'mytool --password hunter2secret --verbose'],
    ['value', 'secret2024', "mytool --password 'secret2024'"],
    ['value', 'mytoken1', 'API_TOKEN=mytoken1 npm start'],
    ['value', 'otter7.secret', 'DB_PASSWORD=otter7.secret'],
    ['value', 'sunshinesecret', 'DB_PASSWORD=sunshinesecret npm start'],
    ['value', 'hunter2secret', '{"password":"hunter2secret"}'],
    ['value', 'hunter2secret', 'spring.datasource.password=hunter2secret'],
    ['value', 'hunter2secret', 'password: hunter2secret'],
  ];

  test.each(secrets)('%s %s', (kind, secret, text = `before ${secret} after`) => {
    const result = redact(text);
    expect(result).toContain(`[redacted:${kind}]`);
    expect(result).not.toContain(secret);
    expect(redact(result)).toBe(result);
  });

  test('a private key is removed whole, also cut off, and the text after it stays', () => {
    const key = [
      '-----BEGIN RSA PRIVATE KEY-----',
      'Proc-Type: 4,ENCRYPTED',
      '',
      'MIIEpAIB+/=',
      '-----END RSA PRIVATE KEY-----',
    ];
    expect(redact(`a\n${key.join('\n')}\nb`)).toBe('a\n[redacted:private_key]\nb');
    expect(redact(key.slice(0, 4).join('\n'))).toBe('[redacted:private_key]');
    const line = JSON.stringify({ a: key.slice(0, 4).join('\n'), b: 'kept "this"' });
    expect(JSON.parse(redact(line))).toEqual({ a: '[redacted:private_key]', b: 'kept "this"' });
  });

  test.each([
    'watchdog: 12 sessions, 11 healthy, 1 silent, 38 ms',
    'SyntaxError: Unexpected token: foo',
    'task-management-of-a-very-long-name-here',
    'task-0a1b2c3d4e5f60718293a4b5c6d7e8f901234567 of disk-9f8e7d6c5b4a39281706',
    'task-ant-colony-optimization, task-admin-creates-the-users-and-assigns-their-roles',
    'task_test_implementationdetails, configd_reads_the_settings_of_every_single_user',
    'DEFAULTAIModelConfiguration, MSG.identifierOfTheSender.identifierOfTheReceiver',
    'cache-key-0123456789abcdef0123456789abcdef, publish-to-test-pypi-and-then-verify-that-it-works-there',
    'https://example.org:8080/a/b@c',
    'a basic understanding of authentication',
    '{"input_tokens":15000,"max_tokens":4096}',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'tg_popoto_-5294327191_4469',
    'a bearer certificate, the authorization failed',
    'password=mySecret, token=oauth2Token, login(password=password2, secret=s3_secret)',
    'password = config.secret2;',
    'PASSWORD=DB_PASSWORD TLS_SECRET=my-app-secret make',
    'the --password mySecret option',
  ])('innocent: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

test('invisible characters do not hide a secret from redaction', () => {
  const redactOwn = createRedactor(['sup3rSecretTokenOfMine']);
  const token = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6'].join('_');
  for (const sign of ['\u200b', '\u2060', '\ufeff', '\u{e0041}', '\u00ad']) {
    const own = redactOwn(`it is sup3rSecret${sign}TokenOfMine.`);
    expect(withoutInvisible(own)).toBe('it is [redacted:own_secret].');
    expect(withoutInvisible(redactOwn(`${token.slice(0, 9)}${sign}${token.slice(9)}`))).toBe('[redacted:github_token]');
    const line = JSON.stringify({ note: `sup3rSecret${sign}TokenOfMine` });
    expect(JSON.parse(redactJsonLine(redactOwn, line))).toEqual({ note: '[redacted:own_secret]' });
  }
  expect(createRedactor(['a\u200bsecret'])('a\u200bsecret, asecret')).toBe(
    '[redacted:own_secret], [redacted:own_secret]',
  );
  // What hides nothing stays as it was written.
  const family = 'a\u200bb 👨\u200d👩 sup3rSecretTokenOfMine';
  expect(redactOwn(family)).toBe('a\u200bb 👨\u200d👩 [redacted:own_secret]');
});

test('a redacted line of JSON stays JSON', () => {
  const pieces = [
    '\n',
    '"',
    '\\',
    '\u0001',
    '\u001b[31m',
    "'",
    '123456',
    BOT_TOKEN,
    'PASSWORD=',
    'x'.repeat(4),
    '-----BEGIN PRIVATE KEY-----',
  ];
  for (let round = 0; round < 1_000; round += 1) {
    let text = '';
    for (let n = 0, seed = round; n < 5; n += 1, seed = Math.floor(seed / pieces.length) + round * 7) {
      text += pieces[seed % pieces.length];
    }
    const line = redactJsonLine(redact, JSON.stringify({ text, next: { kept: true } }));
    expect(JSON.parse(line)).toMatchObject({ next: { kept: true } });
    expect(line).not.toContain(BOT_TOKEN);
  }
});

test('text that is not JSON is redacted as well', () => {
  expect(redactJsonLine(redact, `{"torn ${BOT_TOKEN}`)).toBe('{"torn [redacted:bot_token]');
});

describe('hostile input', () => {
  /** What takes longer with the square of the length takes many seconds for it. */
  const LENGTH = 150_000;
  const LONGEST_MS = 150;
  // biome-ignore format: a list
  const seeds = [
    '1', '1:', '123456:', 'a', 'A', 'eyJ', 'eyJaaaaaa.', 'eyJaaaaaa.aaaaaa', 'sk-', 'sk-ant-', 'ghp_', 'gh', 'github_pat_', 'xoxb-', '://', '://a:', '://a:b',
    'http://aaaa', '-----BEGIN PRIVATE KEY-----', '-----BEGIN ', '-----', '-', 'TOKEN', 'TOKEN=', 'TOKEN="', 'TOKEN ', 'PASSWORD: ', 'token\\"', '\\', '"', "'",
    'authorization', 'authorization: ', 'authorization: bearer ', 'bearer ', 'Bearer a', ' ', '\n', '[redacted:', 'AKIA', 'ya29.', '@', ':',
    '\u001b[', '[0;', '\\u0001', 'sk-a\\n', 'api_key', 'API_KEY:', 'cookie: ', 'cookie: a=', 'password="', 'password=\\"', '<password>', '--password ', '-p',
    'login -p ', 'curl -u a:b', '-----END RSA PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----\\nAAAAAAAA', 'AAAAAAAAA\\n', '"name": "token", "value":',
    'AKIAIOSFODNN7EXAMPLE-', 'AKIAIOSFODNN7EXAMPLEeyJ', 'npm_', 'EAAC', 'sk-ant-a', 'sk-proj-', `glsa_${'a1B2'.repeat(8)}_0123abcd`, 'hvs.', 'dp.',
    'https://hooks.slack.com/services/', 'auth=', 'password password ', 'eyJ.', 'SG.', '"d":"', '"kty" "d":"a', 'Private-Lines: 1\n', 'a:5432:b:c:', ':',
  ];
  test.each(seeds)('%j', (seed) => {
    const text = seed.repeat(Math.ceil(LENGTH / seed.length));
    for (const input of [text, `${text}!`, `x${text} ${BOT_TOKEN}`]) {
      const before = process.cpuUsage();
      redact(input);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(LONGEST_MS * patience());
    }
  });
});

describe('our own text', () => {
  const root = packageRoot();
  /** Where a password is put into an address. */
  const PUT_TOGETHER = '://:${';

  test('matches no pattern, so that hints stay readable', () => {
    const eaten = ['src', 'memory', 'monitoring', 'bridge'].flatMap((ring) =>
      readdirSync(join(root, ring), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .flatMap((path) => literalsOf(readFileSync(join(root, ring, path), 'utf8')))
        .filter((literal) => redact(literal) !== literal && !literal.includes(PUT_TOGETHER)),
    );
    expect(eaten).toEqual([]);
  });

  function literalsOf(text: string): string[] {
    return text.split('\n').flatMap((line) => line.match(/'(?:[^'\\]|\\.)*'|`[^`]*`|"[^"]*"/g) ?? []);
  }
});

describe('an address', () => {
  test('hides its password and query, and nothing else', () => {
    expect(secretsInAddress('redis://localhost:6379/1')).toEqual([]);
    expect(secretsInAddress('redis://me@localhost:6379')).toEqual([]);
    expect(secretsInAddress('redis://me:p%40ssword@localhost:6379?x=a-secret').sort()).toEqual([
      'p%40ssword',
      'p@ssword',
      'x=a-secret',
    ]);
    expect(secretsInAddress('hunter2 is no address')).toEqual(['hunter2 is no address']);
  });

  test('of Redis is no secret of ours but for these parts; tokens and the address to ping are', () => {
    const given = {
      TELEGRAM_BOT_TOKEN: 'one\n',
      GITHUB_TOKEN: '',
      WATCHDOG_PING_URL: 'https://ping.example/two',
      HOME: 'x',
    };
    expect(ownSecretsIn({ ...given, REDIS_URL: 'redis://me:three@localhost' })).toEqual([
      'one',
      'three',
      'https://ping.example/two',
    ]);
    expect(ownSecretsIn({ REDIS_URL: 'redis://localhost:6379' })).toEqual([]);
  });
});
