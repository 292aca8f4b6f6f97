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
  let received = '';
  const settle = (ended: boolean) => {
    const answers = parseAnswers(received);
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

function parseAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest.includes('\r\n\r\n'); ) {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const status = Number(first.split(' ')[1]);
    if (rest.length < end + 4 + length) break;
    if (status !== 100) answers.push({ status, headers, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
