const D=process.argv[2]||'/tmp/sf/dist';
const { createRedactor } = await import(D+'/src/log/redact.js');
import { execFileSync } from 'node:child_process';
const secrets=['7123456789:AAHk3jf-Lm_Pq8sT1vW4yZ7bC0dF3gH6jKm','gh'+'p_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6','Quite-Long7Pass/word+x'];
const r=createRedactor(secrets.map(s=>'zz'+s+'QQ7kk'));
const run=(cmd,s)=>execFileSync('sh',['-c',cmd],{input:s}).toString();
const E={
 plain:s=>s, ansiOne:s=>s.slice(0,15)+'\x1b[31m'+s.slice(15), ansiTwo:s=>s.slice(0,10)+'\x1b[01;31m\x1b[K'+s.slice(10,25)+'\x1b[m\x1b[K'+s.slice(25), ansiJson:s=>JSON.stringify(s.slice(0,15)+'\x1b[31m'+s.slice(15)), ansiThree:s=>s.slice(0,8)+'\x1b[31m'+s.slice(8,18)+'\x1b[0m'+s.slice(18,30)+'\x1b[32m'+s.slice(30),
 colour256:s=>s.slice(0,15)+'\x1b[38;5;208m'+s.slice(15)+'\x1b[0m',
 xxd:s=>run('xxd',s), xxdOff:s=>run('xxd','tok='+s), xxdOff2:s=>run('xxd','token='+s+' more text follows'), hexdumpC:s=>run('hexdump -C','a='+s), od:s=>run('od -t x1','abc'+s), odz:s=>run('od -A x -t x1z -v','abc'+s), hexdump:s=>run('hexdump','ab'+s), hexdumpOdd:s=>run('hexdump','abc'+s), odc:s=>run('od -c','ab'+s), xxdp:s=>run('xxd -p',s), xxdjson:s=>JSON.stringify({out:run('xxd','a='+s)}), xxdg1:s=>run('xxd -g1',s),xxdu:s=>run('xxd -u',s),
 buffer:s=>require_inspect(Buffer.from(s)), bufjson:s=>JSON.stringify(Buffer.from(s)), u8:s=>require_inspect(new Uint8Array(Buffer.from(s))), bytesPy:s=>[...Buffer.from(s)].map(b=>'\\x'+b.toString(16)).join(''), carr:s=>[...Buffer.from(s)].map(b=>'0x'+b.toString(16)).join(', '),
 ent:s=>s.replaceAll(':','&#58;').replaceAll('_','&#95;').replaceAll('-','&#45;'), entx:s=>s.replaceAll(':','&#x3A;').replaceAll('/','&#x2F;'), entnamed:s=>s.replaceAll(':','&colon;').replaceAll('_','&lowbar;').replaceAll('/','&sol;').replaceAll('+','&plus;'), ent0:s=>s.replaceAll(':','&#058;'),
 zw:s=>s.slice(0,20)+'\u200b'+s.slice(20), zwEach10:s=>s.replace(/(.{10})/g,'$1\u2060'), shy:s=>s.slice(0,9)+'\u00ad'+s.slice(9),
 pct:s=>s.replaceAll(':','%3A'), pct2:s=>s.replaceAll(':','%253A').replaceAll('/','%252F'), qp:s=>s.slice(0,20)+'=\n'+s.slice(20), qp3:s=>s.replaceAll(':','=3A').replaceAll('_','=5F'), uni:s=>s.replaceAll(':','\\u003a').replaceAll('/','\\u002f').replaceAll('+','\\u002b'), uniall:s=>[...s].map(c=>'\\u'+c.charCodeAt(0).toString(16).padStart(4,'0')).join(''), x3a:s=>s.replaceAll(':','\\x3a'),
 concat:s=>`"${s.slice(0,20)}" + "${s.slice(20)}"`, concatnl:s=>`"${s.slice(0,20)}" +\n    "${s.slice(20)}"`, py:s=>`('${s.slice(0,20)}'\n  '${s.slice(20)}')`, sh:s=>`${s.slice(0,20)}\\\n${s.slice(20)}`, wrap:s=>s.slice(0,20)+'\n'+s.slice(20), wrap2:s=>s.slice(0,20)+'\n  > '+s.slice(20),
 html:s=>s.slice(0,20)+'<wbr>'+s.slice(20), span:s=>`<span>${s.slice(0,10)}</span><span class="x">${s.slice(10)}</span>`, md:s=>s.replace(/([_\-:.+\/])/g,'\\$1'), b64:s=>Buffer.from('x'+s).toString('base64'), b64utf16:s=>Buffer.from(s,'utf16le').toString('base64'), b64b64:s=>Buffer.from(Buffer.from(s).toString('base64')).toString('base64'), hexcolon:s=>[...Buffer.from(s)].map(b=>b.toString(16)).join(':'), upperhex:s=>Buffer.from(s).toString('hex').toUpperCase(), rev:s=>[...s].reverse().join(''), b32:s=>run('base32',s), rot13:s=>run("tr 'A-Za-z' 'N-ZA-Mn-za-m'",s), binary:s=>run('xxd -b',s), octal:s=>run('od',s), gz:s=>run('gzip|base64',s), spaced:s=>[...s].join(' '),
};
const { inspect } = await import('node:util'); function require_inspect(x){ return inspect(x,{maxArrayLength:500}); }
let bad=0; for (const [n,f] of Object.entries(E)) { const res=secrets.map(s=>{ const t=f('zz'+s+'QQ7kk'); const out=r('before '+t+' after\nnext line'); const ok=out.includes('[redacted:own_secret]')&&out.endsWith('next line'); return ok?'ok':'LEAK '+out.slice(0,300); }); const l=res.filter(x=>x!=='ok'); if(l.length){bad++; console.log(n, l.length, l[0]);} }
console.log(Object.keys(E).length,'encodings', bad,'leak');
if (process.argv[3]) for (const n of process.argv[3].split(',')) console.log(r('before '+E[n]('zz'+secrets[0]+'QQ7kk')+' after\nnext line'));
