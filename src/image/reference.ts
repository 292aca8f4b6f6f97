/** The texts of the image service's API reference (docs/specification/image.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { engineProblems } from './engine/problems.ts';
import { imageProblems } from './problems.ts';

const key = 'u/5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21/thread/thread-1/0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11.jpg';

export const imageReference = defineReference({
  description: 'An internal service that generates variants of images and returns their public URLs.',
  tags: { image: 'Variants of images.' },
  problems: { ...imageProblems.table, ...engineProblems.table },
  operations: {
    'POST /v1/ensure': {
      id: 'ensureVariants',
      description:
        'Generates and stores the variants that do not exist yet, and returns the URL of each. The URL of a variant never changes. `overBudget` lists variants that exceed `maxBytes` at the lowest quality.',
      problems: [
        'source_url_forbidden',
        'unsupported_image',
        'undecodable_image',
        'image_too_large',
        'source_unavailable',
        'variant_store_failed',
        'processing_timeout',
      ],
      example: { source: { key }, specs: [{ name: 'card', width: 640, format: 'webp' }] },
    },
    'POST /v1/forget': {
      id: 'forgetVariants',
      description: 'Deletes all stored variants of a source and returns their number.',
      problems: ['source_url_forbidden', 'variant_store_failed'],
      example: { source: { key } },
    },
  },
});
