import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
const way=process.argv[2]!, n=Number(process.argv[3]??1500);
const child=fork(fileURLToPath(new URL('./signing-service.ts', import.meta.url)),{stdio:['ignore','ignore','inherit','ipc'],execArgv:process.env.PROF?['--cpu-prof','--cpu-prof-dir=/tmp/prof','--cpu-prof-interval','200']:[]});
const [told]=await once(child,'message') as any;
const call=async(w:string)=>{const a=await fetch(`http://127.0.0.1:${told.ports[w]}/v1/sign/image`,{method:'POST',headers:{'content-type':'application/json',authorization:`Bearer ${told.token}`},body:JSON.stringify({refs:told.refs})});await a.text();};
const cpu=async()=>{const a=once(child,'message');child.send('cpu');return ((await a)[0]as any).cpuMs;};
for(const w of way.split(',')){ for(let i=0;i<300;i++) await call(w); const b=await cpu(); for(let i=0;i<n;i++) await call(w); console.log(w,((await cpu())-b)/n*1000,'us per call'); }
child.disconnect(); await once(child,'exit'); process.exit();
