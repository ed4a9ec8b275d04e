const [dist]=process.argv.slice(2);
const { createRedactor } = await import(dist+'/src/log/redact.js'); const redact=createRedactor([]);
import fs from 'node:fs';
// real certificates etc
const pem=fs.readFileSync('/etc/ssl/certs/ca-certificates.crt','utf8');
const blocks=pem.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g); console.log(blocks.length,'certs');
const L={plain:l=>l,n:(l,i)=>`${i+1}:${l}`,cat:(l,i)=>`  ${i+1}\t${l}`,diff:l=>'-'+l,q:l=>'> '+l,js:l=>`'${l}\\n' +`,log:(l,i)=>`2026-11-27T23:18:${10+i%50}.123Z INFO ${l}`};
for (const [n,f] of Object.entries(L)) { let bad=0, noBegin=0,noEnd=0,mid=0; for(const b of blocks){ const ls=b.split('\n').map(f); if(redact(ls.join('\n'))!==ls.join('\n'))bad++; const nb=ls.slice(1).join('\n'); if(redact(nb)!==nb) noBegin++; const ne=ls.slice(0,-1).join('\n'); if(redact(ne)!==ne) noEnd++; const m=ls.slice(4,-3).join('\n'); if(redact(m)!==m) mid++; } const j=JSON.stringify({out:blocks[3].split('\n').map(f).join('\n')}); console.log(n,{bad,noBegin,noEnd,mid,json:redact(j)!==j}); }
const whole=redact(pem); console.log('file unchanged', whole===pem);
