/** What the jobs of each queue do. A queue without a name is shown as it is. */
const works: Readonly<Record<string, string>> = {
  'agent/budget-mail': 'Send the alert of a budget',
  'agent/cancel-order': 'Cancel an order at its provider',
  'agent/clear-deleted-thread': 'Clean up after a deleted conversation',
  'agent/delete-threads': 'Delete conversations',
  'agent/deliver-video': 'Download a finished video',
  'agent/extract-memories': 'Find what to remember',
  'agent/make-images': 'Make images',
  'agent/make-title': 'Give a conversation its title',
  'agent/make-video': 'Make a video',
  'auth/delete-account': 'Delete an account',
  'auth/export-account': 'Export an account',
  'auth/revoke': 'Confirm a sign-out at the identity provider',
  'media/decision-mail': 'Send a decision about reported content',
  'media/decisions': 'Remove or hide reported content',
  'media/long-videos': 'Convert a long video',
  'media/rescreen': 'Screen all assets again',
  'media/sweep': 'Remove objects that nothing refers to',
  'media/watermark-long-video': 'Put a watermark on a long video',
  'media/watermark-video': 'Put a watermark on a video',
  'memory/judge': 'Compare new memories with known ones',
  'notify/send': 'Send an email',
  'notify/send-later': 'Send an email again, or later',
  'video-upload-service': 'Convert an uploaded video',
  'webhooks/deliver': 'Deliver a webhook',
};

export const workOf = (queue: string): string => works[queue] ?? queue;
