const { createRedactor } = await import('/tmp/sf/dist/src/log/redact.js'); const r=createRedactor([]);
import fs from 'node:fs';
for (const b of fs.readFileSync('/etc/ssl/certs/ca-certificates.crt','utf8').match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g)) { const o=r(b); if(o!==b){ let i=0; while(o[i]===b[i]) i++; console.log('CERT', JSON.stringify(b.slice(i-20,i+90)),'=>',JSON.stringify(o.slice(i-20,i+60))); } }
const { keyForms, legiblePieces } = await import('/tmp/sf/dist/test/secrets/keyForms.js');
for (const s of [1,2,3]) for (const f of keyForms(s)) { const o=r(f.text); if(legiblePieces(f,o)>0) console.log('KEY',s,f.name, JSON.stringify(o.slice(0,60)), (o.match(/\[redacted:\w+\]/g)||[]).join(' ')); }
