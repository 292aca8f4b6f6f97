import { defineProblems } from '#platform/problem.ts';

export const consoleProblems = defineProblems({
  forbidden_host: {
    status: 403,
    message: 'The console is not known under this host; CONSOLE_URL says where browsers reach it.',
  },
  forbidden_origin: { status: 403, message: 'Pages of other origins may not call the console.' },
  wrong_token: { status: 401, message: 'This is not the console’s token.' },
  outbox_unused: { status: 404, message: 'Mails leave through a server here; there is no outbox to show.' },
});
