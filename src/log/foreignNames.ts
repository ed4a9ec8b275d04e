/** Passwords behind their name in a language whose letters are in no word of a program: `пароль: …`, `密码是…`, `la contraseña es …`. */
import { looksRandom } from './randomText.js';
import { looksChosen } from './secretValues.js';

const NAMES =
  '[cC]ontraseña|[hH]asło|[pP]arolă|[jJ]elszó|[lL]ösenord|[mM]ật khẩu|[şŞ]ifre|[пП]арол[ья]|[сС]екрет|[кК]люч|[κΚ]ωδικός|סיסמה|كلمة المرور|密码|密碼|口令|パスワード|暗証番号|비밀번호|รหัสผ่าน|पासवर्ड';
/** One of each name. A text without them takes no time. */
export const FOREIGN_LETTERS = 'ñłăóậşŞпПсСкКκΚסك密口パ暗비รपö';
const SAYS = String.raw`(?:\s{0,3}[:：=＝]|\s{0,3}(?:es|é|to|jest|är|on|это|είναι|是|为|為|は|를|은|là|है)(?=[\s"'A-Za-z0-9]))`;
const FOREIGN = new RegExp(
  String.raw`((?:${NAMES})(?:\s[\p{L}]{1,20}){0,3}${SAYS}\s{0,3}[«"'“„「『\x60]?)([!#-&(-+\x2d-[\]-_a-~]{6,200})`,
  'gu',
);
const END_OF_SENTENCE = /[.,;:!?)\]}"'`]+$/;

/** @param text with letters beyond ASCII */
export function replaceForeign(text: string): string {
  return text.replace(FOREIGN, (whole, before: string, written: string) => {
    const value = written.replace(END_OF_SENTENCE, '');
    const isSecret = looksChosen(value) || looksRandom(value);
    return isSecret ? `${before}[redacted:value]${written.slice(value.length)}` : whole;
  });
}
