/** Libraries of bench/package.json, which a check of the types does not require. */
declare module '@aws-sdk/client-s3';
declare module '@aws-sdk/s3-request-presigner';
declare module 'minisearch';
