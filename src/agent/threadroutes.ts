/** The routes of threads: they are listed, named and deleted. */

import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { createGates } from '#platform/concurrency.ts';
import { transaction } from '#platform/db/db.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { invalid } from '#platform/problem.ts';
import * as api from './api.ts';
import { deleteThread, deleteThreads, endShareOf } from './deletion/deletion.ts';
import type { ServingContext } from './servingcontext.ts';
import { chooseBranch, readBranches, readReplaced } from './threads/branches.ts';
import { changeThread, namedUserOf, userOf } from './threads/changes.ts';
import { readThread, readThreads } from './threads/listing.ts';

const userField = 'querystring.userId';
/** Searches of one user, which run one after the other. */
const searchLimits = { width: 1, maxWaiting: 100, waitTimeoutMs: 30_000 };

export function addThreadRoutes(app: HttpServer, access: Access, deps: ServingContext): void {
  const routes = routesOf(app, 'agent');
  const searches = createGates(searchLimits);

  routes.get('/threads', access.userOrInternal, {
    id: 'listThreads',
    summary: 'List the threads of a user',
    description: 'Returns a page of threads. The thread with the newest message is first.',
    querystring: api.threadListing,
    response: { 200: api.threadPage },
    handler: async ({ caller, query }, reply) => {
      const userId = userOf(caller, query.userId, userField);
      if (query.q === undefined) return readThreads(deps, userId, query);
      return searches.run(userId, () => readThreads(deps, userId, query, reply.abandoned));
    },
  });

  routes.delete('/threads', access.userOrInternal, {
    id: 'deleteThreads',
    summary: 'Delete all threads of a user',
    description: 'Immediately hides all threads of a user, and deletes them. You can repeat the request.',
    otherResponses: { 204: ['The threads are hidden.'] },
    querystring: api.threadsDeletion,
    response: { 204: z.null() },
    handler: async ({ caller, query }) =>
      deleteThreads(deps, userOf(caller, query.userId, userField), query.assets === 'true'),
  });

  routes.get('/threads/:threadId', access.userOrInternal, {
    id: 'readThread',
    summary: 'Read a thread',
    description: 'Returns the title, the times and the number of messages of a thread.',
    problems: ['forbidden', 'not_found'],
    params: api.threadParams,
    querystring: api.threadOwner,
    response: { 200: api.thread },
    handler: async ({ caller, params, query }) =>
      readThread(deps, namedUserOf(caller, query.userId, userField), params.threadId),
  });

  routes.patch('/threads/:threadId', access.userOrInternal, {
    id: 'renameThread',
    summary: 'Rename a thread, move it to the trash, restore it, or keep it',
    description:
      'Sets the title of a thread, moves it to the trash, restores it, or keeps a temporary one. The position of the thread in the list does not change. The trash ends the link of a shared thread.',
    problems: ['forbidden', 'not_found', 'thread_deleting'],
    example: { title: 'Lighthouses' },
    params: api.threadParams,
    querystring: api.threadOwner,
    body: api.threadChange,
    response: { 200: api.thread },
    handler: async ({ caller, params: { threadId }, query, body }) => {
      const userId = namedUserOf(caller, query.userId, userField) ?? namedUserOf(caller, body.userId, 'body.userId');
      const { title, trashed, temporary } = body;
      if (title === undefined && trashed === undefined && temporary === undefined)
        throw invalid('body.title', 'is required without trashed and temporary');
      await readThread(deps, userId, threadId);
      if (trashed === true) await endShareOf(deps, threadId);
      await transaction(deps.db, (tx) => changeThread(deps, tx, threadId, body));
      return readThread(deps, userId, threadId);
    },
  });

  routes.delete('/threads/:threadId', access.userOrInternal, {
    id: 'deleteThread',
    summary: 'Delete a thread',
    description:
      "Stops the run in progress and deletes the thread with its messages and videos. With `assets=true`, it also deletes the thread's assets. After 503, you can repeat the request.",
    problems: ['forbidden', 'not_found'],
    params: api.threadParams,
    querystring: api.threadDeletion,
    response: { 204: z.null() },
    handler: async ({ caller, params, query }) => {
      const userId = namedUserOf(caller, query.userId, userField);
      await deleteThread(deps, userId, params.threadId, query.assets === 'true');
    },
  });

  routes.get('/threads/:threadId/branches', access.userOrInternal, {
    id: 'listBranches',
    summary: 'List the versions of a thread',
    description:
      'Returns the messages that have other versions, because a message was edited or answered again. Versions are stored until the thread is deleted, up to 100 and 32 MiB of a thread.',
    problems: ['forbidden', 'not_found'],
    params: api.threadParams,
    querystring: api.threadOwner,
    response: { 200: api.threadBranches },
    handler: async ({ caller, params, query }) =>
      readBranches(deps, namedUserOf(caller, query.userId, userField), params.threadId),
  });

  routes.get('/threads/:threadId/replaced', access.userOrInternal, {
    id: 'listReplaced',
    summary: 'List the messages of all branches of a thread',
    description:
      'Returns a page of them. Pass `next_cursor` as `cursor` until it is `null`. Exports of accounts contain them.',
    problems: ['forbidden', 'not_found'],
    params: api.threadParams,
    querystring: api.replacedListing,
    response: { 200: api.replacedMessages },
    handler: async ({ caller, params, query }) =>
      readReplaced(deps, namedUserOf(caller, query.userId, userField), params.threadId, query.cursor),
  });

  routes.post('/threads/:threadId/branches/:branchId', access.userOrInternal, {
    id: 'chooseBranch',
    summary: 'Show another version of a thread',
    description:
      'Replaces the messages from the fork on with those of the branch. The replaced messages become a branch. A thread with a run returns 409.',
    problems: ['forbidden', 'not_found', 'task_running', 'thread_deleting'],
    params: api.branchParams,
    querystring: api.threadOwner,
    response: { 204: z.null() },
    handler: async ({ caller, params, query }) =>
      chooseBranch(deps, namedUserOf(caller, query.userId, userField), params),
  });
}
