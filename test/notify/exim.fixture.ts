/**
 * A real mail server: Exim, as it comes with Debian, with its default answers. It takes mail for `example.com`, knows the
 * mailboxes `ann` and `bert`, defers `busy`, refuses `blocked` by policy, and relays to no other domain. Exim runs as root only;
 * without it, or without root, its suite is skipped.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../ports.fixture.ts';

const program = '/usr/sbin/exim4';
export const skipWithoutExim = !(existsSync(program) && process.getuid?.() === 0) && process.env.CI !== 'true';

export interface Exim {
  readonly url: string;
  /** The mails that were delivered to a mailbox, raw. */
  mailsOf(mailbox: string): Promise<readonly Buffer[]>;
  close(): Promise<void>;
}

const configuration = (folder: string, port: number) => `
primary_hostname = mail.example.com
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port}
spool_directory = ${folder}/spool
log_file_path = ${folder}/log-%s
pid_file_path = ${folder}/pid
domainlist local_domains = example.com
never_users =
deliver_drop_privilege = true
tls_advertise_hosts =
keep_environment =
message_size_limit = 1M
auth_advertise_hosts = *
acl_smtp_mail = check_sender
acl_smtp_rcpt = check_recipient

begin acl
check_sender:
  deny    !authenticated = *
          message = authentication required
  accept
check_recipient:
  deny    !domains = +local_domains
          message = relay not permitted
  defer   local_parts = busy
          message = Greylisted, please try again later
  deny    local_parts = blocked
          message = 5.7.1 Your address is on a block list of unknown users
  accept  verify = recipient

begin routers
known:
  driver = accept
  local_parts = ann : bert
  transport = mailbox
  cannot_route_message = Unknown user

begin transports
mailbox:
  driver = appendfile
  directory = ${folder}/mail/$local_part_data
  maildir_format
  create_directory

begin retry
* * F,1m,1s

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{app}}{eq{$auth3}{p@ss/word}}}}
  server_set_id = $auth2
`;

export async function startExim(): Promise<Exim> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-exim-'));
  await Promise.all(['spool', 'mail'].map((name) => mkdir(join(folder, name))));
  const port = await freePort();
  const file = join(folder, 'exim.conf');
  await writeFile(file, configuration(folder, port), { mode: 0o644 });
  // The daemon and its deliveries give up the rights of root. The configuration stays root's.
  execFileSync('chown', ['Debian-exim', folder, join(folder, 'spool'), join(folder, 'mail')]);
  const child = spawn(program, ['-C', file, '-bdf', '-q1m'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (text) => {
    complaint += text;
  });
  for (const startedAtMs = performance.now(); !(await listens(port)); await sleep(50)) {
    const isOver = child.exitCode !== null || performance.now() - startedAtMs > 20_000;
    if (isOver) throw new Error(`Exim does not start: ${complaint}`);
  }
  return {
    url: `smtp://app:${encodeURIComponent('p@ss/word')}@127.0.0.1:${port}`,
    async mailsOf(mailbox) {
      const place = join(folder, 'mail', mailbox, 'new');
      const names = await readdir(place).catch(() => []);
      return Promise.all(names.map((name) => readFile(join(place, name))));
    },
    async close() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
