/** The texts of the edge's API reference (docs/specification/system.md#edge). */
import { engineProblems } from '#image/engine/problems.ts';
import { defineReference } from '#platform/http/apireference.ts';
import { edgeProblems } from './problems.ts';

const file = {
  200: ['The bytes of the file.', 'application/octet-stream'],
  206: ['The requested range.', 'application/octet-stream'],
  304: ['The file matches `If-None-Match` or `If-Modified-Since`.'],
} as const;
const reading = ['not_found', 'condition_failed', 'range_not_satisfiable'] as const;
const tus = ['not_found', 'upload_ended', 'unsupported_version', 'upload_in_progress'] as const;
const url = 'Use the URL that the media service returned. The URL is the credential.';

export const edgeReference = defineReference({
  description:
    'Serves files and variants at signed URLs, accepts uploads, and resizes images by the URL format of imgproxy.',
  tags: { edge: 'Signed files, variants and uploads.' },
  problems: { ...edgeProblems.table, ...engineProblems.table },
  operations: {
    'GET /o/*': {
      id: 'downloadFile',
      path: '/o/:key',
      description: `Returns a file, or a range of it. ${url}`,
      problems: ['invalid_address', ...reading],
      responses: file,
    },
    'PUT /o/*': {
      id: 'uploadFile',
      path: '/o/:key',
      description: `Stores a file. ${url} A second upload to the same URL returns 412.`,
      problems: [
        'invalid_address',
        'upload_incomplete',
        'not_found',
        'request_timeout',
        'already_exists',
        'upload_in_progress',
        'payload_too_large',
      ],
      responses: { 200: ['The file was stored.'] },
    },
    'GET /img/*': {
      id: 'downloadVariant',
      path: '/img/:key',
      description: 'Returns a variant that the image service has generated.',
      problems: reading,
      responses: file,
    },
    'GET /*': {
      id: 'resizeImage',
      path: '/:signature/:options/:source',
      description: 'Returns an image with the options of a signed imgproxy URL. The result is stored as a variant.',
      problems: [
        'invalid_address',
        ...reading,
        'unsupported_image',
        'undecodable_image',
        'image_too_large',
        'processing_timeout',
      ],
      responses: file,
    },
    'HEAD /tus/*': {
      id: 'readUploadOffset',
      path: '/tus/:key',
      description: `Returns the offset of a resumable upload in the header \`Upload-Offset\` (tus 1.0.0). ${url}`,
      problems: tus,
      responses: { 200: ['The headers describe the upload.'] },
    },
    'PATCH /tus/*': {
      id: 'appendToUpload',
      path: '/tus/:key',
      description: 'Appends bytes at the current offset of a resumable upload (tus 1.0.0).',
      problems: [
        ...tus,
        'offset_conflict',
        'upload_incomplete',
        'request_timeout',
        'payload_too_large',
        'unsupported_media_type',
      ],
      responses: { 204: ['The bytes were stored. The header `Upload-Offset` is the new offset.'] },
    },
    'DELETE /tus/*': {
      id: 'terminateUpload',
      path: '/tus/:key',
      description: 'Terminates a resumable upload and deletes its bytes (tus 1.0.0).',
      problems: tus,
      responses: { 204: ['The upload was terminated.'] },
    },
    'POST /tus/*': {
      id: 'sendUploadMethod',
      path: '/tus/:key',
      description:
        'Performs the method in `X-HTTP-Method-Override`: `HEAD`, `PATCH` or `DELETE`. Use it if a proxy blocks these methods.',
      problems: [
        ...tus,
        'offset_conflict',
        'upload_incomplete',
        'request_timeout',
        'payload_too_large',
        'unsupported_media_type',
      ],
      responses: { 200: ['The response of `HEAD`.'], 204: ['The response of `PATCH` and `DELETE`.'] },
    },
  },
});
