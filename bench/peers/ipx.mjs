// ipx 3 as a server of its own process, over the folder that the first argument names. Tells its port, and on any message
// the CPU that it has spent.
import { createServer } from 'node:http';
import { createIPX, createIPXNodeServer, ipxFSStorage } from 'ipx';

const ipx = createIPX({ storage: ipxFSStorage({ dir: process.argv[2] }) });
const server = createServer(createIPXNodeServer(ipx));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMs: (user + system) / 1000 });
});
process.on('disconnect', () => process.exit());
