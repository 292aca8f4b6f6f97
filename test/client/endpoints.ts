/** The names of the client's functions and types. All else comes from the OpenAPI documents. */

export interface Endpoint {
  readonly name: string;
  /** The type names of the body, the query and the response. */
  readonly body?: string;
  readonly query?: string;
  readonly answer?: string;
  /** A POST that is safe to repeat, because it only reads or creates a resource once. GET, PUT and DELETE always are. */
  readonly repeatable?: true;
  readonly cookies?: true;
  /**
   * A URL for the browser, an HTML page, the stream of a run, the events of a user, or an endpoint for other clients, which
   * has no function.
   */
  readonly kind?: 'address' | 'page' | 'stream' | 'events' | 'foreign';
}

export interface ServiceEndpoints {
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  /** Types that are parts of others, with their positions. */
  readonly parts?: Readonly<Record<string, readonly string[]>>;
}

export const services = {
  media: {
    endpoints: {
      'POST /v1/uploads': {
        name: 'reserveUpload',
        body: 'UploadRequest',
        answer: 'UploadReservation',
        repeatable: true,
      },
      'POST /v1/uploads/sign-pending': {
        name: 'signPending',
        body: 'PendingRequest',
        answer: 'PendingObject',
        repeatable: true,
      },
      'POST /v1/assets': { name: 'registerAsset', body: 'RegistrationRequest', answer: 'Asset', repeatable: true },
      'GET /v1/assets': { name: 'listAssets', query: 'AssetListing', answer: 'AssetPage' },
      'GET /v1/assets/{assetId}': { name: 'readAsset', answer: 'Asset' },
      'PATCH /v1/assets/{assetId}': { name: 'changeAsset', body: 'AssetChange', answer: 'Asset' },
      'GET /v1/usage': { name: 'readMediaUsage', query: 'MediaUsageQuery', answer: 'MediaUsage' },
      'DELETE /v1/assets': { name: 'deleteAssets', body: 'AssetsDeletion', answer: 'AssetsDeleted' },
      'POST /v1/assets/legacy': { name: 'importLegacy', body: 'LegacyImport', answer: 'Asset', repeatable: true },
      'DELETE /v1/scope': { name: 'deleteScope', body: 'ScopeDeletion', answer: 'ScopeDeleted' },
      'POST /v1/sign/image': { name: 'signImages', body: 'SignRequest', answer: 'ImageSignedRefs', repeatable: true },
      'POST /v1/sign/video': { name: 'signVideos', body: 'SignRequest', answer: 'VideoSignedRefs', repeatable: true },
      'POST /v1/fit': { name: 'fitImage', body: 'FitRequest', answer: 'FittedImage', repeatable: true },
      'POST /v1/copy': { name: 'copyAsset', body: 'CopyRequest', answer: 'Asset' },
      'POST /v1/watermark': {
        name: 'watermarkImage',
        body: 'WatermarkRequest',
        answer: 'WatermarkedImage',
        repeatable: true,
      },
      'POST /v1/watermark-video': {
        name: 'watermarkVideo',
        body: 'WatermarkRequest',
        answer: 'WatermarkedVideo',
        repeatable: true,
      },
      'POST /v1/media-tasks': { name: 'writeMediaTask', body: 'TaskUpsert', answer: 'MediaTask', repeatable: true },
      'POST /v1/media-tasks/video': { name: 'beginVideoTask', body: 'VideoTaskRequest', answer: 'VideoTask' },
      'GET /v1/media-tasks/{taskId}': { name: 'readMediaTask', answer: 'MediaTaskState' },
      'DELETE /v1/media-tasks/{taskId}': { name: 'deleteMediaTask', answer: 'TaskDeleted' },
      'DELETE /v1/media-tasks': { name: 'deleteMediaTasks', body: 'TasksDeletion', answer: 'TasksDeleted' },
      'GET /v1/incidents': { name: 'listIncidents', query: 'IncidentListing', answer: 'IncidentPage' },
      'GET /v1/incidents/{id}': { name: 'readIncident', answer: 'Incident' },
      'POST /v1/incidents/{id}/resolution': {
        name: 'resolveIncident',
        body: 'IncidentResolution',
        answer: 'Incident',
        repeatable: true,
      },
      'GET /v1/incidents/counts': { name: 'countIncidents', answer: 'IncidentCounts' },
      'GET /v1/incidents/{id}/preview': { name: 'previewIncident', kind: 'foreign' },
      'POST /v1/incidents/{id}/appeal': { name: 'appealIncident', body: 'IncidentAppeal', answer: 'AppealedIncident' },
      'GET /v1/rescreen': { name: 'readRescreening', answer: 'RescreeningProgress' },
      'DELETE /v1/people/{userId}': { name: 'eraseOwner', answer: 'ErasedOwner' },
      'POST /v1/rescreen': { name: 'rescreen', answer: 'Rescreening', repeatable: true },
      'POST /v1/sweep': { name: 'sweep', body: 'SweepRequest', answer: 'Swept' },
    },
    parts: {
      ImageSignedRef: ['ImageSignedRefs', 'additionalProperties'],
      VideoSignedRef: ['VideoSignedRefs', 'additionalProperties'],
    },
  },
  image: {
    endpoints: {
      'POST /v1/ensure': { name: 'ensureVariants', body: 'EnsureRequest', answer: 'EnsuredVariants', repeatable: true },
      'POST /v1/forget': {
        name: 'forgetVariants',
        body: 'ForgetRequest',
        answer: 'ForgottenVariants',
        repeatable: true,
      },
    },
    parts: {
      ImageSource: ['EnsureRequest', 'properties', 'source'],
      VariantSpec: ['EnsureRequest', 'properties', 'specs', 'items'],
    },
  },
  auth: {
    endpoints: {
      'GET /login': { name: 'loginUrl', query: 'SignInStart', kind: 'address' },
      'GET /callback': { name: 'callbackUrl', query: 'SignInReturn', kind: 'address' },
      'POST /refresh': { name: 'refresh', answer: 'AccessToken', repeatable: true, cookies: true },
      'POST /logout': { name: 'logout', query: 'SignOut', answer: 'SignedOut', repeatable: true, cookies: true },
      'PUT /v1/accounts/credits': { name: 'setCredits', body: 'CreditsGrant', answer: 'GrantedProfile' },
      'GET /v1/accounts/actions': { name: 'listOperatorActions', query: 'ActionListing', answer: 'OperatorActions' },
      'GET /v1/people': { name: 'listPeople', query: 'PeopleListing', answer: 'PeoplePage' },
      'GET /v1/people/{userId}': { name: 'readPerson', answer: 'PersonDetails' },
      'POST /v1/people/{userId}/credits': {
        name: 'changeCredits',
        body: 'CreditsChange',
        answer: 'Person',
        repeatable: true,
      },
      'POST /v1/people/{userId}/exports': { name: 'recordExport' },
      'DELETE /v1/people/{userId}/sessions': { name: 'endSessions' },
      'DELETE /v1/people/{userId}': { name: 'erasePerson', answer: 'ErasedPerson' },
      'GET /v1/actions': { name: 'listActions', query: 'ActionSearch', answer: 'ActionPage' },
      'POST /v1/accounts/seed': { name: 'seedAccounts', answer: 'SeededAccounts', repeatable: true },
    },
  },
  agent: {
    endpoints: {
      'POST /task': { name: 'startTask', body: 'TaskRequest', answer: 'StartedTask' },
      'GET /task/{taskId}': { name: 'readTask', answer: 'TaskInfo' },
      'DELETE /task/{taskId}': { name: 'stopTask' },
      'GET /stream/{taskId}': { name: 'followRun', kind: 'stream' },
      'GET /thread/{threadId}/current-task': { name: 'readCurrentTask', query: 'ThreadOwner', answer: 'CurrentTask' },
      'GET /messages/{threadId}': { name: 'readMessages', query: 'MessagePaging', answer: 'ThreadMessages' },
      'GET /threads': { name: 'listThreads', query: 'ThreadListing', answer: 'ThreadPage' },
      'GET /threads/{threadId}': { name: 'readThread', query: 'ThreadOwner', answer: 'Thread' },
      'PATCH /threads/{threadId}': {
        name: 'renameThread',
        body: 'ThreadChange',
        query: 'ThreadOwner',
        answer: 'Thread',
      },
      'DELETE /threads/{threadId}': { name: 'deleteThread', query: 'ThreadDeletion' },
      'DELETE /threads': { name: 'deleteThreads', query: 'ThreadsDeletion' },
      'GET /events': { name: 'events', kind: 'events' },
      'POST /chat': { name: 'chat', kind: 'foreign' },
      'GET /chat/{id}/stream': { name: 'resumeChat', kind: 'foreign' },
      'GET /people/{userId}': { name: 'countThreads', answer: 'ThreadCounts' },
      'DELETE /people/{userId}': { name: 'eraseThreads', answer: 'ErasedThreads' },
      'GET /models': { name: 'listModels', answer: 'ModelList' },
      'GET /models/all': { name: 'listConfiguredModels', answer: 'ConfiguredModels' },
      'GET /usage/totals': { name: 'readUsageTotals', query: 'UsageTotalsRange', answer: 'UsageTotals' },
      'GET /usage/users': { name: 'listSpenders', query: 'SpenderListing', answer: 'Spenders' },
      'GET /usage': { name: 'readUsage', query: 'UsageRange', answer: 'UsageDays' },
      'GET /credits': { name: 'readCredits', query: 'CreditsOwner', answer: 'CreditsState' },
      'POST /video/submit/{taskId}': { name: 'retryVideos', answer: 'VideosRetried' },
    },
    parts: {
      UserMessage: ['TaskRequest', 'properties', 'message', 'anyOf', '0'],
      ThreadMessage: ['ThreadMessages', 'properties', 'messages', 'items'],
    },
  },
  memory: {
    endpoints: {
      'POST /inject': { name: 'inject', body: 'InjectRequest', answer: 'Injection', repeatable: true },
      'POST /memory/add': { name: 'addMemory', body: 'AdditionRequest', answer: 'Addition' },
      'POST /memory/search': {
        name: 'searchMemories',
        body: 'SearchRequest',
        answer: 'SearchResult',
        repeatable: true,
      },
      'POST /memory/extract': { name: 'extractMemories', body: 'ExtractionRequest', answer: 'Extraction' },
      'GET /memories': { name: 'listMemories', query: 'MemoryQuery', answer: 'Memories' },
      'GET /memory/{id}': { name: 'readMemory', answer: 'Memory' },
      'GET /export': { name: 'exportMemories', query: 'EntityQuery', answer: 'EntityExport' },
      'DELETE /entities/{entity_type}/{entity_id}': { name: 'eraseEntity' },
      'PUT /memory/{id}': { name: 'editMemory', body: 'MemoryEdit', answer: 'Memory' },
      'DELETE /memory/{id}': { name: 'deleteMemory' },
      'GET /admin/memories': { name: 'adminListMemories', query: 'MemoryListing', answer: 'MemoryPage' },
      'POST /admin/memories': { name: 'adminAddMemory', body: 'AdditionRequest', answer: 'AdminMemory' },
      'GET /admin/memories/{id}': { name: 'adminReadMemory', answer: 'AdminMemory' },
      'PUT /admin/memories/{id}': { name: 'adminEditMemory', body: 'OperatorEdit', answer: 'AdminMemory' },
      'DELETE /admin/memories/{id}': { name: 'adminDeleteMemory' },
      'GET /admin/memories/{id}/history': { name: 'adminReadHistory', answer: 'MemoryHistory' },
      'POST /admin/memories/{id}/undo': { name: 'adminUndoChange', answer: 'AdminMemory' },
      'GET /admin/profiles': { name: 'adminListProfiles', query: 'ProfileListing', answer: 'ProfilePage' },
      'GET /admin/profiles/{entity_type}/{entity_id}': { name: 'adminReadProfile', answer: 'AdminProfile' },
      'PUT /admin/profiles/{entity_type}/{entity_id}': {
        name: 'adminWriteProfile',
        body: 'ProfileEdit',
        answer: 'AdminProfile',
      },
      'DELETE /admin/profiles/{entity_type}/{entity_id}': { name: 'adminDeleteProfile' },
      'DELETE /admin/entities/{entity_type}/{entity_id}': { name: 'adminEraseEntity' },
      'GET /admin/entities/{entity_type}/{entity_id}/export': { name: 'adminExportEntity', answer: 'EntityExport' },
    },
    parts: {
      Profile: ['Injection', 'properties', 'profile', 'anyOf', '0'],
      FoundMemory: ['Injection', 'properties', 'memories', 'items'],
      Revision: ['MemoryHistory', 'properties', 'history', 'items'],
    },
  },
  content: {
    endpoints: {
      'GET /sitemap/users': { name: 'listUsers', answer: 'UserSitemap' },
      'GET /sitemap/feeds': { name: 'listFeeds', answer: 'FeedSitemap' },
      'GET /sitemap.xml': { name: 'readSitemapIndex', kind: 'page' },
      'GET /sitemap/users.xml': { name: 'readUserSitemap', query: 'SitemapPage', kind: 'page' },
      'GET /sitemap/feeds.xml': { name: 'readFeedSitemap', query: 'SitemapPage', kind: 'page' },
      'POST /webhooks/resend': { name: 'receiveMailEvent', repeatable: true },
      'GET /op/announcement': { name: 'readAnnouncement', answer: 'Announcement' },
      'GET /op/homecards/v2': { name: 'readHomeCards', answer: 'HomeCards' },
      'GET /op/trending': { name: 'readTrending', answer: 'Trending' },
      'GET /unsubscribe': { name: 'readUnsubscribePage', query: 'UnsubscribeLink', kind: 'page' },
      'POST /unsubscribe': { name: 'unsubscribe', query: 'UnsubscribeLink', kind: 'page', repeatable: true },
    },
    parts: { HomeCard: ['HomeCards', 'properties', 'cards', 'items'] },
  },
  notify: {
    endpoints: {
      'POST /notify': { name: 'notify', body: 'NotifyRequest', answer: 'NotifyAnswer' },
      'POST /emails': { name: 'sendEmail', body: 'EmailRequest', answer: 'EmailAnswer' },
      'POST /emails/batch': { name: 'sendEmails', body: 'EmailBatch', answer: 'EmailBatchAnswer' },
      'GET /emails': { name: 'listEmails', query: 'EmailListing', answer: 'EmailList' },
      'GET /emails/{id}': { name: 'readEmail', answer: 'Email' },
      'POST /emails/{id}/cancel': { name: 'cancelEmail', answer: 'CanceledEmail', repeatable: true },
      'POST /emails/events': { name: 'reportEmailEvent', body: 'EmailEvent', repeatable: true },
      'GET /types': { name: 'listTypes', answer: 'NotificationTypes' },
      'POST /types/{type}/preview': {
        name: 'previewType',
        body: 'PreviewRequest',
        answer: 'Preview',
        repeatable: true,
      },
      'GET /people/mails': { name: 'listMailsOfPerson', query: 'MailsOfPersonQuery', answer: 'MailsOfPerson' },
      'POST /people/erasure': { name: 'eraseMails', body: 'MailsErasure', answer: 'ErasedMails', repeatable: true },
      'GET /suppressions': { name: 'listSuppressions', query: 'SuppressionListing', answer: 'SuppressionPage' },
      'DELETE /suppressions/{address}': { name: 'liftSuppression' },
    },
  },
} satisfies Readonly<Record<string, ServiceEndpoints>>;

/** Endpoints of every service; see `src/client/operations.ts`. */
export const operations = ['/', '/health', '/ready', '/metrics', '/metrics/errors', '/openapi.json', '/docs'];
