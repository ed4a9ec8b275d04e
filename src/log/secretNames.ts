/** Names that are followed by a secret: `DB_PASSWORD=`, `"apiKey":`, `--token `. */
export type NameKind =
  | 'password'
  | 'secret'
  | 'token'
  /** `api_key` and the like: always a secret. */
  | 'key'
  /** Any other `…_key`, a salt, a personal access token: a secret only if its value looks random. */
  | 'some_key'
  | 'auth'
  /** A name and a password. */
  | 'login'
  | 'signature'
  | 'key_data'
  | 'authorization'
  | 'bearer'
  | 'cookie'
  /** The cookie of a session, by its own name. */
  | 'session'
  | 'words'
  /** A name with more behind it, `API_KEY_2`, or a name as short as `pw`: a secret if its value looks like one. */
  | 'chosen'
  /** Nothing but `key`, at the beginning of a line. */
  | 'lone_key'
  /** `the key`, in a sentence. */
  | 'spoken_key'
  /** A variable of an environment with any other name: only if nothing else is as random. */
  | 'variable'
  /** A call with a name and a password. */
  | 'call'
  /** An account that every system has. */
  | 'account'
  /** A function that makes a client, with its key. */
  | 'client'
  /** Behind it, separated by two colons, is a value that a log must not show. */
  | 'mask'
  /** The number of lines of a private key, or a sum over them. */
  | 'key_lines'
  /** A command that reads a secret from its input. */
  | 'piped'
  /** Part of a command whose arguments are secrets. */
  | 'command';

/**
 * A name at a word's end. `own`: only as a word of its own, `DB_PASS`, `dbPass` and `pass`, not `compass`. `whole`: only as the
 * whole word. `capital`: only as a variable of an environment, `GH_PAT`. `…key` is decided by its beginning.
 */
const NAMES: readonly (readonly [endings: string, kind: NameKind, as?: 'own' | 'whole' | 'capital'])[] = [
  ['private-lines,private-mac,private-hash', 'key_lines'],
  ['chpasswd,password-stdin,passphrase-fd,kinit,cryptsetup', 'piped'],
  [
    'add_user,change_password,user,setuser,obscure,http-basic,config,alias,wpa_passphrase,identified,sqlplus,impdp,expdp,sqlldr,rman,thin',
    'command',
    'whole',
  ],
  ['token', 'token'],
  ['secret', 'secret'],
  ['password,passwd,passphrase,pass_phrase,pass-phrase,passcode', 'password'],
  ['passe', 'password', 'own'],
  ['passwort,kennwort,contrasena,wachtwoord,senha', 'password'],
  ['requirepass,masterauth,storepass,keypass,userpass,dbpass,sshpass,bindpw,rootpw', 'password'],
  ['securestring', 'password'],
  ['pwd,pass,psk', 'password', 'own'],
  ['pw', 'chosen', 'own'],
  ['secretstring,secretvalue,secret_value,secret_string,tokenvalue,token_value', 'secret'],
  ['api_hash,app_hash,apihash', 'key'],
  ['secret_key_base', 'key'],
  ['key', 'some_key'],
  ['tokens,secrets,passwords,keys', 'some_key', 'own'],
  ['pat', 'some_key', 'capital'],
  ['salt,pepper,hmac,jwt,encrypt,secret_id,secret-id', 'some_key', 'own'],
  ['credential,credentials,creds', 'login', 'own'],
  ['connect,connection,authenticate', 'call'],
  ['pscredential,networkcredential,passwordcredential,passwordcredentials', 'call'],
  ['client,clientv1,clientv2', 'client'],
  ['basicauth,basic_auth,basicauthentication', 'auth'],
  ['add-mask', 'mask', 'whole'],
  ['login', 'login', 'whole'],
  ['unseal', 'auth', 'whole'],
  ['root,admin,administrator,postgres,ubuntu,superuser', 'account', 'whole'],
  ['auth', 'auth', 'own'],
  ['npmauthident', 'auth'],
  ['authorization', 'authorization'],
  ['bearer', 'bearer'],
  ['cookie', 'cookie'],
  ['sid,sess,sessid,sessionid', 'session', 'own'],
  ['phpsessid,jsessionid', 'session'],
  ['sig', 'signature', 'whole'],
  ['signature', 'signature'],
  ['code,appid', 'signature', 'whole'],
  ['key-data', 'key_data'],
  ['mnemonic,phrase', 'words'],
];
/** No relevant name is longer. */
const LONGEST_ENDING = 40;
const LONGEST_BEFORE = 80;
const SECRET_KEY =
  /(?:api|access|secret|private|auth|account|encryption|encrypt|signing|master|service|role|app|license|webhook|admin|deploy|shared|storage|subscription|integration|unseal|recovery|session|decryption)[_-]?key$/i;
const OF_ENVIRONMENT = /^[A-Z][A-Z0-9_]*$/;
const INNOCENT_KEY =
  /(?:public|publishable|gpg|pgp|primary|foreign|sort|partition|cache|unique|group|hash|range|row|index|map|object|dedup|lookup|composite|sub|translation|message|store|query|idempotency|site|websocket)[_-]?keys?$/i;

/** Words that people say before `key` when one follows. */
const SPOKEN_OF = /\b(?:the|a|new|old|my|your|our|this|following)(?: \w{1,20})? $/i;

const SESSION = /(?:^|[a-z_-])session(?:[_-]id)?$/i;
const STAGES = 'prod|live|test|staging|sandbox|dev|old|new|backup';
const QUALIFIED = new RegExp(`[_-]?(?:\\d{1,2}|${STAGES})$`, 'i');
const QUALIFIABLE: readonly NameKind[] = ['password', 'secret', 'token', 'key', 'some_key', 'chosen'];
const SHORTEST_VARIABLE = 4;
const NO_PASSWORD = /(?:BY|COM|TRES|SUR|OVER|UNDER)PASS$/;
/** Words within a variable's name, if it ends with another word. */
const SECRET_WITHIN =
  /(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|APIKEY|(?:API|ACCESS|SECRET|PRIVATE|AUTH|ENCRYPTION|SIGNING|MASTER|SERVICE|DEPLOY)_KEY|CREDENTIALS?)_/;
/** The last words of variables that are about a secret, and do not hold it. */
const NOT_THE_SECRET =
  /_(?:FILE|PATH|DIR|URL|URI|NAME|ID|IDS|TYPE|LENGTH|LEN|MIN|MAX|EXPIRY|EXPIRES|EXPIRATION|TTL|AGE|COUNT|SIZE|LIMIT|HASH|ALGO|ALGORITHM|HINT|POLICY|REGEX|PATTERN|FIELD|LABEL|PLACEHOLDER|HEADER|PREFIX|SUFFIX|MODE|ENABLED|REQUIRED|VERSION|SECONDS|MS|DAYS|HOURS|MINUTES|ENDPOINT|HOST|PORT|ISSUER|AUDIENCE|SCOPE|SCOPES|STORE|MANAGER|ARN|REF|KEY_NAME)$/;
const PUBLIC_VARIABLE =
  /(?:^|_)(?:PUBLIC|PUB|CERT|CERTIFICATE|HASH|DIGEST|CHECKSUM|SUM|SHA\d*|MD5|SIGNATURE|FINGERPRINT|ID|IDS|URL|URI|NONCE|ETAG|VERSION|CURSOR|PATH|ARN|DATA|IMAGE|STATE|CLIENT|INTEGRITY|COMMIT|REVISION|TAG|ICON|LOGO|ALPHABET|CHARS|EXPECTED|ACTUAL|FIXTURE|SAMPLE|EXAMPLE|SITE|DSN|ADDRESS|WALLET|ACCOUNT|CHALLENGE|BODY|CONTENT)(?:_|$)/;

interface Name {
  readonly ending: string;
  readonly kind: NameKind;
  readonly as: 'own' | 'whole' | 'capital' | undefined;
}

/** Of four letters in either case. */
const CODES = 1 << 20;

/** Sorts out nearly all words by their last four letters, in either case; shorter endings with each letter before them. */
class Endings {
  readonly #bits = new Uint32Array(CODES >> 5);

  add(ending: string): void {
    const last = ending.slice(-4);
    let first = 0;
    for (let index = 0; index < last.length; index += 1) first = (first << 5) | (last.charCodeAt(index) & 31);
    for (let code = first; code < CODES; code += 1 << (5 * last.length))
      this.#bits[code >> 5] = (this.#bits[code >> 5] ?? 0) | (1 << (code & 31));
  }

  mayEnd(codes: Uint16Array, end: number): boolean {
    const code = codeOf(codes[end - 4] ?? 0, codes[end - 3] ?? 0, codes[end - 2] ?? 0, codes[end - 1] ?? 0);
    return (((this.#bits[code >> 5] ?? 0) >> (code & 31)) & 1) === 1;
  }
}

/** Names by the code of their last two letters. */
const BY_ENDING = new Map<number, Name[]>();
export const ENDINGS_OF_NAMES = new Endings();
/** Words that may follow a name: `DB_PASSWORD_PROD`. */
export const ENDINGS_OF_STAGES = new Endings();

for (const [endings, kind, as] of NAMES) {
  for (const ending of endings.split(',')) {
    ENDINGS_OF_NAMES.add(ending);
    const code = codeOfLast(ending, ending.length);
    const others = BY_ENDING.get(code);
    if (others === undefined) BY_ENDING.set(code, [{ ending, kind, as }]);
    else others.push({ ending, kind, as });
  }
}
/** Names of cookies. Elsewhere they are those of identifiers, which every line of a log has. */
export const ENDINGS_OF_SESSIONS = new Endings();
ENDINGS_OF_SESSIONS.add('session');
ENDINGS_OF_SESSIONS.add('session_id');
for (const stage of STAGES.split('|')) ENDINGS_OF_STAGES.add(stage);

/** The same for both cases of a letter. */
function codeOf(first: number, second: number, third: number, fourth: number): number {
  return ((first & 31) << 15) | ((second & 31) << 10) | ((third & 31) << 5) | (fourth & 31);
}

function codeOfLast(text: string, end: number): number {
  return ((text.charCodeAt(end - 2) & 31) << 5) | (text.charCodeAt(end - 1) & 31);
}

export function nameKindOf(text: string, start: number, end: number): NameKind | null {
  for (const name of BY_ENDING.get(codeOfLast(text, end)) ?? []) {
    if (end - name.ending.length < start || !endsWith(text, end, name.ending)) continue;
    const kind = kindAs(name, text.slice(Math.max(start, end - LONGEST_ENDING), end));
    if (kind !== null) return kind;
  }
  const isKey = end - start === 3 && endsWith(text, end, 'key');
  return isKey ? kindOfLoneKey(text.slice(Math.max(0, start - LONGEST_BEFORE), start)) : null;
}

/** @param ending in lower case; the text may be in any */
function endsWith(text: string, end: number, ending: string): boolean {
  for (let index = 1; index <= ending.length; index += 1) {
    const code = text.charCodeAt(end - index);
    const lower = code >= 0x41 && code <= 0x5a ? code | 32 : code;
    if (lower !== ending.charCodeAt(ending.length - index)) return false;
  }
  return true;
}

/** @returns what a word names that has a number or a stage behind its name, or that is a variable of an environment */
export function qualifiedKindOf(text: string, start: number, end: number): NameKind | null {
  if (end - start > LONGEST_ENDING) return null;
  const word = text.slice(start, end);
  if (SESSION.test(word)) return 'session';
  const behind = QUALIFIED.exec(word)?.[0].length ?? 0;
  const kind = behind === 0 ? null : nameKindOf(text, start, end - behind);
  if (kind !== null && QUALIFIABLE.includes(kind)) return 'chosen';
  if (!OF_ENVIRONMENT.test(word) || word.length < SHORTEST_VARIABLE) return null;
  if (word.endsWith('PASS')) return NO_PASSWORD.test(word) ? null : 'password';
  if (SECRET_WITHIN.test(word)) return NOT_THE_SECRET.test(word) ? null : 'chosen';
  if (/_USERS?$/.test(word)) return 'login';
  return text.charAt(end) === '=' && !PUBLIC_VARIABLE.test(word) ? 'variable' : null;
}

/** `API key`, `?key=` in an address, and `login(key=`. */
function kindOfLoneKey(before: string): NameKind | null {
  if (/["'](?:user(?:name)?|email|login)\\{0,7}["']\s?:\s?\\{0,7}["'][^"']{1,40}["'],\s{0,8}\\{0,7}["']$/.test(before))
    return 'key';
  if (/[?&]$|\b(?:login|auth\w*|\w*client\w*|connect|init|configure)\([^()\n]{0,30}$/i.test(before)) return 'some_key';
  if (/(?:^|\n|\\n)[ \t]{0,8}$/.test(before)) return 'lone_key';
  if (/[ .]$/.test(before) && SECRET_KEY.test(`${before.slice(0, -1)}-key`)) return 'key';
  return SPOKEN_OF.test(before) ? 'spoken_key' : null;
}

function kindAs({ ending, kind, as }: Name, word: string): NameKind | null {
  if (as === 'whole') return word.length === ending.length ? kind : null;
  if (as === 'capital') return OF_ENVIRONMENT.test(word) && isOwnWord(word, ending.length) ? kind : null;
  if (as === 'own' && !isOwnWord(word, ending.length)) return null;
  return ending === 'key' || ending === 'keys' ? keyKind(word) : kind;
}

/** Whether the last `length` letters are a word of their own. */
function isOwnWord(word: string, length: number): boolean {
  const at = word.length - length;
  if (at === 0) return true;
  const before = word.charAt(at - 1);
  return before === '_' || before === '-' || (/[a-z0-9]/.test(before) && /[A-Z]/.test(word.charAt(at)));
}

function keyKind(word: string): NameKind | null {
  if (INNOCENT_KEY.test(word)) return null;
  if (SECRET_KEY.test(word)) return 'key';
  return word.length > 4 && isOwnWord(word, /s$/i.test(word) ? 4 : 3) ? 'some_key' : null;
}
