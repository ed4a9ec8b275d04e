// node run.mjs DIST corpus.mjs
const [dist, file, list] = process.argv.slice(2);
const { createRedactor } = await import(dist + '/src/log/redact.js');
const S='/tmp/sf/dist/test/secrets/';
const { fill } = await import(S+'template.js'); const { measure } = await import(S+'measure.js'); const { OUTPUTS } = await import(S+'outputs.js');
const { seededRandom } = await import('/tmp/sf/dist/test/src/journal/random.js');
const c = await import('/tmp/corp/'+file);
const r = seededRandom(7);
const corpus = { secrets: Object.entries(c.secrets).flatMap(([k,t])=>[1,2,3,4].map(()=>fill(k,t,r))), lookAlikes: c.lookAlikes.flatMap((t)=>[1,2,3,4].map(()=>fill(t,t,r))) };
const redact = createRedactor([]);
for (const { name, show } of OUTPUTS) {
 const { leaks, losses } = measure(corpus, (t)=>show(t, redact), (t)=>show(t,(x)=>x));
 const k=(x)=>new Set(x.map((s)=>s.kind)).size;
 console.log(name, `legible ${leaks.length} of ${corpus.secrets.length} (${k(leaks)} of ${Object.keys(c.secrets).length} kinds), destroyed ${losses.length} of ${corpus.lookAlikes.length} (${k(losses)} kinds)`);
 if (list === name || (list === 'list' && name==='plain line')) { for (const [k2,s] of new Map([...leaks].map((x)=>[x.kind,x]))) console.log('  L', k2, '=>', JSON.stringify(show(s.text,redact)).slice(0,200)); for (const [k2,s] of new Map(losses.map((x)=>[x.kind,x]))) console.log('  D', JSON.stringify(s.text).slice(0,150), '=>', JSON.stringify(redact(s.text)).slice(0,150)); }
}
