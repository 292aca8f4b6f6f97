// The health check of a container, and of deploy/host/upgrade. Exits with 1 unless every listening service returns 200 for
// `GET /health`, and with 1 if no service listens. A service returns 503 until all services of its process listen.
const base = Number(process.env.ATELIER_PORT_BASE || 4000);
// 8 and 9 belong to no service, so another program can have them.
const offsets = [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12];

const states = await Promise.all(
  offsets.map(async (offset) => {
    try {
      const response = await fetch(`http://127.0.0.1:${base + offset}/health`, { signal: AbortSignal.timeout(4000) });
      return response.status === 200 ? 'healthy' : `port ${base + offset} returns ${response.status}`;
    } catch (error) {
      return error.cause?.code === 'ECONNREFUSED' ? 'closed' : `port ${base + offset} is not responding`;
    }
  }),
);
const faults = states.filter((state) => state !== 'healthy' && state !== 'closed');
if (!states.includes('healthy')) faults.push('no service listens');
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
