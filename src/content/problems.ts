import { defineProblems } from '#platform/problem.ts';

export const contentProblems = defineProblems({
  invalid_signature: { status: 401, message: 'The signature of the webhook is missing, wrong or expired.' },
  // docs/specification/content.md defines the status. Readers of sitemaps retry automatically.
  sitemap_unavailable: { status: 500, message: 'The list cannot be read right now. Try again later.' },
});
