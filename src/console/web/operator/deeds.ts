/** The audit log records requests of operators by method and route. These are their names for readers. */
const names: Readonly<Record<string, string>> = {
  'DELETE /people/:userId': 'Erased conversations',
  'DELETE /v1/people/:userId': 'Erased files',
  'DELETE /v1/people/:userId/sessions': 'Ended sessions',
  'GET /v1/incidents/:id/evidence': 'Read the evidence of an incident',
  'GET /v1/incidents/:id/preview': 'Viewed an incident',
  'POST /people/:userId/erasure': 'Erased the account',
  'POST /people/erasure': 'Erased emails',
  'POST /v1/accounts/seed': 'Created sample users',
  'POST /v1/assets/legacy': 'Imported a legacy file',
  'POST /v1/incidents/:id/decision': 'Decided an incident',
  'POST /v1/incidents/:id/export': 'Exported an incident',
  'POST /v1/incidents/:id/resolution': 'Resolved an incident',
  'POST /v1/people/:userId/credits': 'Changed plan or credits',
  'POST /v1/people/:userId/exports': 'Exported a person',
  'POST /v1/rescreen': 'Screened assets again',
  'POST /v1/sweep': 'Swept objects',
  'PUT /v1/accounts/credits': 'Set plan and credits',
};

/** Actions without a name are shown as they were recorded. */
export const deedOf = (action: string): string => names[action] ?? action;
