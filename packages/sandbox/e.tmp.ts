import { createSandbox, local } from '@vitrine/sandbox'
import { openStore, sqliteStore } from '@vitrine/journal'
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
rmSync('/tmp/e.db',{force:true}); for (const x of ['-wal','-shm','.owner']) rmSync('/tmp/e.db'+x,{force:true})
const store = await openStore(sqliteStore({path:'/tmp/e.db'}))
const iso = (process.argv[2] ?? 'none') as 'none'
const sandbox = await createSandbox({ provider: local({ isolation: iso, data: '/var/tmp/vt' }), store })
console.log(sandbox.root, sandbox.capabilities)
console.log(await sandbox.exec('echo hi; echo err >&2; exit 3'))
console.log(await sandbox.exec('kill -9 $$'))
console.log(await sandbox.exec(['nosuch']).catch(e=>e.code), await sandbox.exec('x',{cwd:'/etc'}).catch(e=>e.code), await sandbox.exec('x',{cwd:'nodir'}).catch(e=>e.code))
console.log(await sandbox.exec('sleep 60 & setsid sleep 60 & wait',{timeoutMs:300}))
console.log(await sandbox.exec('sleep 3 & echo bg'))
console.log(await sandbox.exec('cat',{stdin:'hällo'}))
console.log(await sandbox.exec('true',{signal:AbortSignal.abort()}))
console.log((await sandbox.exec('head -c 10000000 /dev/zero | tr "\\0" x')).stdout.length)
const raw=()=>new Promise<number>((res)=>{const t=performance.now();const c=spawn('true',[],{stdio:'pipe'});c.stdout.resume();c.stderr.resume();c.on('close',()=>res(performance.now()-t))})
const A:number[]=[],B:number[]=[];for(let i=0;i<300;i++){A.push(await raw());const t=performance.now();await sandbox.exec(['true']);B.push(performance.now()-t)}
const q=(x:number[])=>x.sort((a,b)=>a-b)[x.length>>1]!.toFixed(3)
console.log('raw',q(A),'exec',q(B), +q(B)/+q(A))
const srv = await sandbox.spawn(['python3','-m','http.server','8123','--bind','127.0.0.1'],{env:{}}).catch(e=>console.log(e.message))
if(srv){ void srv.exit.then(console.log)
const addr=await sandbox.ports.waitFor(8123,{timeoutMs:3000}).catch(e=>console.log(e.message)); console.log(addr, await sandbox.ports.list())
if(addr) console.log((await (await fetch(addr.url)).text()).length, (await sandbox.exec('curl -s localhost:8123 | head -c 100')).stdout)
await srv.stop() }
const term = await sandbox.spawn(['bash','--norc','-i'],{tty:{cols:80,rows:24}})
let out='';(async()=>{for await(const c of term.view()) out+=Buffer.from(c.data)})()
await term.input('tty; stty size; sleep 50\n'); await new Promise(r=>setTimeout(r,300)); await term.input('\x03'); await term.resize(100,30); await term.input('stty size; exit 4\n'); console.log(await term.exit); console.log(out)
const N=Date.now(); await sandbox.close(); console.log('close',Date.now()-N)
console.log((await store.journal(sandbox.id)).head, await (await store.journal(sandbox.id)).verify())
await store.close()
