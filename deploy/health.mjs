// For the health check of a container: every service that listens here has to answer `GET /health` with 200. Exits with 1
// when one does not, or when none listens.
const base = Number(process.env.ATELIER_PORT_BASE || 4000);
const offsets = Array.from({ length: 13 }, (_, offset) => offset);

const states = await Promise.all(
  offsets.map(async (offset) => {
    try {
      const answer = await fetch(`http://127.0.0.1:${base + offset}/health`, { signal: AbortSignal.timeout(4000) });
      return answer.status === 200 ? 'well' : `port ${base + offset} answers ${answer.status}`;
    } catch (error) {
      return error.cause?.code === 'ECONNREFUSED' ? 'nobody' : `port ${base + offset} does not answer`;
    }
  }),
);
const faults = states.filter((state) => state !== 'well' && state !== 'nobody');
if (!states.includes('well')) faults.push('no service listens');
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
