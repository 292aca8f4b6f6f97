/** The calls of the agent service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, type CallOptions, callJson, callVoid, type KeyedOptions, keyed } from '../calling.ts';
import type { RunChunk } from '../chunks.ts';
import { operationsOf } from '../operations.ts';
import { followRun } from '../run.ts';
import { type EventsOptions, followEvents, type UserEvent } from '../userevents.ts';
import type {
  BudgetChange,
  BudgetList,
  ConfiguredModels,
  CreditsOwner,
  CreditsState,
  CurrentTask,
  CurrentTaskQuery,
  ErasedThreads,
  FailureCounts,
  FailureRange,
  Generation,
  GenerationListing,
  GenerationPage,
  GenerationRecordListing,
  GenerationRecordPage,
  ImagesRequest,
  LibraryNews,
  MessagePaging,
  ModelList,
  ModelListing,
  ReplacedListing,
  ReplacedMessages,
  RunListing,
  RunPage,
  RunRecord,
  SpenderListing,
  Spenders,
  StartedTask,
  TaskInfo,
  TaskRequest,
  Thread,
  ThreadBranches,
  ThreadChange,
  ThreadCounts,
  ThreadDeletion,
  ThreadListing,
  ThreadMessages,
  ThreadOwner,
  ThreadPage,
  ThreadsDeletion,
  Titles,
  TitlesQuery,
  UsageDays,
  UsageRange,
  UsageTotals,
  UsageTotalsRange,
  UserUsage,
  UserUsageRange,
  VideosRequest,
  VideosRetried,
} from './api.ts';

export type AgentCalls = ReturnType<typeof agentCalls>;

export function agentCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Start a run in a thread (`POST /task`). */
    startTask: (body: TaskRequest, options?: KeyedOptions): Promise<StartedTask> =>
      callJson(access, { method: 'POST', path: '/task', body, ...keyed(options) }, options),

    /** Read the status of a run (`GET /task/:taskId`). */
    readTask: (taskId: string, options?: CallOptions): Promise<TaskInfo> =>
      callJson(access, { method: 'GET', path: `/task/${encodeURIComponent(taskId)}`, repeatable: true }, options),

    /** Stop a run (`DELETE /task/:taskId`). */
    stopTask: (taskId: string, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: `/task/${encodeURIComponent(taskId)}`, repeatable: true }, options),

    /** Stream the output of a run as server-sent events (`GET /stream/:taskId`). */
    followRun: (taskId: string, options?: Pick<CallOptions, 'signal'>): AsyncGenerator<RunChunk> =>
      followRun(access, taskId, options?.signal),

    /** Read the run in progress of a thread (`GET /thread/:threadId/current-task`). */
    readCurrentTask: (threadId: string, query?: CurrentTaskQuery, options?: CallOptions): Promise<CurrentTask> =>
      callJson(
        access,
        { method: 'GET', path: `/thread/${encodeURIComponent(threadId)}/current-task`, query, repeatable: true },
        options,
      ),

    /** List the messages of a thread (`GET /messages/:threadId`). */
    readMessages: (threadId: string, query?: MessagePaging, options?: CallOptions): Promise<ThreadMessages> =>
      callJson(
        access,
        { method: 'GET', path: `/messages/${encodeURIComponent(threadId)}`, query, repeatable: true },
        options,
      ),

    /** List the models of texts, images and videos, with their prices (`GET /models`). */
    listModels: (query?: ModelListing, options?: CallOptions): Promise<ModelList> =>
      callJson(access, { method: 'GET', path: '/models', query, repeatable: true }, options),

    /** Read the usage of a user by day and model (`GET /usage`). */
    readUsage: (query?: UsageRange, options?: CallOptions): Promise<UsageDays> =>
      callJson(access, { method: 'GET', path: '/usage', query, repeatable: true }, options),

    /** Read the plan, the credits and the prices of a user (`GET /credits`). */
    readCredits: (query?: CreditsOwner, options?: CallOptions): Promise<CreditsState> =>
      callJson(access, { method: 'GET', path: '/credits', query, repeatable: true }, options),

    /** Retry the videos of a run that failed because of credits or plan (`POST /video/submit/:taskId`). */
    retryVideos: (taskId: string, options?: CallOptions): Promise<VideosRetried> =>
      callJson(
        access,
        { method: 'POST', path: `/video/submit/${encodeURIComponent(taskId)}`, repeatable: false },
        options,
      ),

    /** Stream changes of the runs, media, threads and credits of a user (`GET /events`). */
    events: (options?: EventsOptions): AsyncGenerator<UserEvent> => followEvents(access, options),

    /** Announce that the library or the memory of a user has changed (`POST /events`). */
    announceLibraryChange: (body: LibraryNews, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'POST', path: '/events', body, repeatable: false }, options),

    /** List all models, plans and prices, for operators (`GET /models/all`). */
    listConfiguredModels: (options?: CallOptions): Promise<ConfiguredModels> =>
      callJson(access, { method: 'GET', path: '/models/all', repeatable: true }, options),

    /** Read the usage of all users by day, model and plan, newest day first (`GET /usage/totals`). */
    readUsageTotals: (query?: UsageTotalsRange, options?: CallOptions): Promise<UsageTotals> =>
      callJson(access, { method: 'GET', path: '/usage/totals', query, repeatable: true }, options),

    /** List the users who spent the most credits in a month (`GET /usage/users`). */
    listSpenders: (query?: SpenderListing, options?: CallOptions): Promise<Spenders> =>
      callJson(access, { method: 'GET', path: '/usage/users', query, repeatable: true }, options),

    /** Read the usage and the costs of a user by day and model (`GET /usage/users/:userId`). */
    readUserUsage: (userId: string, query?: UserUsageRange, options?: CallOptions): Promise<UserUsage> =>
      callJson(
        access,
        { method: 'GET', path: `/usage/users/${encodeURIComponent(userId)}`, query, repeatable: true },
        options,
      ),

    /** List the budgets of the current day and month, and what is spent of them (`GET /usage/budgets`). */
    listBudgets: (options?: CallOptions): Promise<BudgetList> =>
      callJson(access, { method: 'GET', path: '/usage/budgets', repeatable: true }, options),

    /** Set or remove the budget of a day or a month (`PUT /usage/budgets/:period`). */
    changeBudget: (period: 'day' | 'month', body: BudgetChange, options?: CallOptions): Promise<BudgetList> =>
      callJson(
        access,
        { method: 'PUT', path: `/usage/budgets/${encodeURIComponent(period)}`, body, repeatable: true },
        options,
      ),

    /** List the threads of a user (`GET /threads`). */
    listThreads: (query?: ThreadListing, options?: CallOptions): Promise<ThreadPage> =>
      callJson(access, { method: 'GET', path: '/threads', query, repeatable: true }, options),

    /** Delete all threads of a user (`DELETE /threads`). */
    deleteThreads: (query?: ThreadsDeletion, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: '/threads', query, repeatable: true }, options),

    /** Read a thread (`GET /threads/:threadId`). */
    readThread: (threadId: string, query?: ThreadOwner, options?: CallOptions): Promise<Thread> =>
      callJson(
        access,
        { method: 'GET', path: `/threads/${encodeURIComponent(threadId)}`, query, repeatable: true },
        options,
      ),

    /** Rename a thread, move it to the trash, restore it, or keep it (`PATCH /threads/:threadId`). */
    renameThread: (threadId: string, body: ThreadChange, query?: ThreadOwner, options?: CallOptions): Promise<Thread> =>
      callJson(
        access,
        { method: 'PATCH', path: `/threads/${encodeURIComponent(threadId)}`, query, body, repeatable: true },
        options,
      ),

    /** Delete a thread (`DELETE /threads/:threadId`). */
    deleteThread: (threadId: string, query?: ThreadDeletion, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/threads/${encodeURIComponent(threadId)}`, query, repeatable: true },
        options,
      ),

    /** List the versions of a thread (`GET /threads/:threadId/branches`). */
    listBranches: (threadId: string, query?: ThreadOwner, options?: CallOptions): Promise<ThreadBranches> =>
      callJson(
        access,
        { method: 'GET', path: `/threads/${encodeURIComponent(threadId)}/branches`, query, repeatable: true },
        options,
      ),

    /** List the messages of all branches of a thread (`GET /threads/:threadId/replaced`). */
    listReplaced: (threadId: string, query?: ReplacedListing, options?: CallOptions): Promise<ReplacedMessages> =>
      callJson(
        access,
        { method: 'GET', path: `/threads/${encodeURIComponent(threadId)}/replaced`, query, repeatable: true },
        options,
      ),

    /** Show another version of a thread (`POST /threads/:threadId/branches/:branchId`). */
    chooseBranch: (threadId: string, branchId: string, query?: ThreadOwner, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        {
          method: 'POST',
          path: `/threads/${encodeURIComponent(threadId)}/branches/${encodeURIComponent(branchId)}`,
          query,
          repeatable: false,
        },
        options,
      ),

    /** Count the threads and messages of a user (`GET /people/:userId`). */
    countThreads: (userId: string, options?: CallOptions): Promise<ThreadCounts> =>
      callJson(access, { method: 'GET', path: `/people/${encodeURIComponent(userId)}`, repeatable: true }, options),

    /** Erase the threads of a user (`DELETE /people/:userId`). */
    eraseThreads: (userId: string, options?: CallOptions): Promise<ErasedThreads> =>
      callJson(access, { method: 'DELETE', path: `/people/${encodeURIComponent(userId)}`, repeatable: true }, options),

    /** List the runs of all users, newest first (`GET /runs`). */
    listRuns: (query?: RunListing, options?: CallOptions): Promise<RunPage> =>
      callJson(access, { method: 'GET', path: '/runs', query, repeatable: true }, options),

    /** Count the failed runs of each user (`GET /runs/failures`). */
    countFailedRuns: (query: FailureRange, options?: CallOptions): Promise<FailureCounts> =>
      callJson(access, { method: 'GET', path: '/runs/failures', query, repeatable: true }, options),

    /** Read how a run went (`GET /runs/:taskId`). */
    readRun: (taskId: string, options?: CallOptions): Promise<RunRecord> =>
      callJson(access, { method: 'GET', path: `/runs/${encodeURIComponent(taskId)}`, repeatable: true }, options),

    /** Read the titles of threads (`GET /threads/titles`). */
    readTitles: (query: TitlesQuery, options?: CallOptions): Promise<Titles> =>
      callJson(access, { method: 'GET', path: '/threads/titles', query, repeatable: true }, options),

    /** List the generations of all users, newest first (`GET /generations/all`). */
    listAllGenerations: (query?: GenerationRecordListing, options?: CallOptions): Promise<GenerationRecordPage> =>
      callJson(access, { method: 'GET', path: '/generations/all', query, repeatable: true }, options),

    /** Generate images (`POST /images`). */
    generateImages: (body: ImagesRequest, options?: KeyedOptions): Promise<Generation> =>
      callJson(access, { method: 'POST', path: '/images', body, ...keyed(options) }, options),

    /** Generate a video (`POST /videos`). */
    generateVideo: (body: VideosRequest, options?: KeyedOptions): Promise<Generation> =>
      callJson(access, { method: 'POST', path: '/videos', body, ...keyed(options) }, options),

    /** List the generations of a user, newest first (`GET /generations`). */
    listGenerations: (query?: GenerationListing, options?: CallOptions): Promise<GenerationPage> =>
      callJson(access, { method: 'GET', path: '/generations', query, repeatable: true }, options),

    /** Read a generation (`GET /generations/:id`). */
    readGeneration: (id: string, options?: CallOptions): Promise<Generation> =>
      callJson(access, { method: 'GET', path: `/generations/${encodeURIComponent(id)}`, repeatable: true }, options),

    /** Cancel a generation (`DELETE /generations/:id`). */
    cancelGeneration: (id: string, options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: `/generations/${encodeURIComponent(id)}`, repeatable: true }, options),
  };
}
