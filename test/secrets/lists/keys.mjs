const [dist,seed='1',show]=process.argv.slice(2);
const { createRedactor } = await import(dist+'/src/log/redact.js'); const redact=createRedactor([]);
const S='/tmp/sf/dist/test/secrets/';
const { keyForms, legiblePieces } = await import(S+'keyForms.js'); const { OUTPUTS } = await import(S+'outputs.js');
const forms=keyForms(Number(seed)); 
for (const o of OUTPUTS) { const bad=forms.filter(f=>legiblePieces(f,o.show(f.text,redact))>0); console.log(o.name, bad.length,'of',forms.length); if(o.name===(show||'plain line')) for(const f of bad.slice(0,60)) console.log('   ', f.name, legiblePieces(f,o.show(f.text,redact)), JSON.stringify(o.show(f.text,redact)).slice(0,160)); }
