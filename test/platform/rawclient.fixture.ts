/** Sends arbitrary bytes over a socket, which no HTTP client would send. */
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends `bytes` and reads until the server closes the connection, or has sent `answers` responses. */
export async function sendRaw(address: string, bytes: string | Buffer, answers = 1): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  try {
    return await readAnswers(socket, answers);
  } finally {
    socket.destroy();
  }
}

export function readAnswers(socket: Socket, count: number): Promise<RawAnswer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer[]>();
  const answers: RawAnswer[] = [];
  let received = '';
  // Without so many characters, the next answer is incomplete. Large bodies arrive in many parts.
  let needed = 0;
  const settle = (ended: boolean) => {
    while (received.length >= needed) {
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) break;
      const { status, headers } = parseHead(received.slice(0, end));
      const bodyAt = end + 4;
      needed = bodyAt + Number(headers['content-length'] ?? 0);
      if (received.length < needed) break;
      if (status !== 100) answers.push({ status, headers, body: received.slice(bodyAt, needed) });
      received = received.slice(needed);
      needed = 0;
    }
    if (answers.length >= count || ended) resolve(answers);
  };
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    settle(false);
  });
  socket.on('end', () => settle(true));
  socket.on('error', (error) => (received === '' ? reject(error) : settle(true)));
  return promise;
}

function parseHead(head: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(first.split(' ')[1]), headers };
}
