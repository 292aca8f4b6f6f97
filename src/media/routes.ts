import type { Access } from '#platform/access/access.ts';
import { sendJson } from '#platform/http/bodies.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import {
  asset,
  assetChange,
  assetParams,
  assetsDeleted,
  assetsDeletion,
  copyRequest,
  fitRequest,
  fittedImage,
  imageSignedRefs,
  legacyImport,
  ownerUsage,
  pendingObject,
  pendingRequest,
  registrationRequest,
  scopeDeleted,
  scopeDeletion,
  signRequest,
  uploadRequest,
  uploadReservation,
  usageQuery,
  videoSignedRefs,
  watermarked,
  watermarkedVideo,
  watermarkRequest,
} from './api.ts';
import { type CopyDeps, copyAsset } from './copying/copying.ts';
import { deleteAssets } from './deletion/deletion.ts';
import { assetListing, assetPage } from './listing/api.ts';
import { type ListingDeps, listAssets } from './listing/listing.ts';
import { readUsage } from './quota/quota.ts';
import { changeAsset, type OneAssetDeps, readAsset } from './registration/changing.ts';
import { type ImportDeps, importFile } from './registration/importing.ts';
import { type PendingDeps, signPending } from './registration/pendinguploads.ts';
import { type RegistrationDeps, registerAsset } from './registration/registration.ts';
import { type ReservationDeps, reserveUpload } from './registration/uploads.ts';
import { deleteScope, type ScopeDeletionDeps } from './scopes/scopedeletion.ts';
import { type FitSigningDeps, signFit } from './signing/fitsigning.ts';
import { type SigningDeps, signImages } from './signing/signing.ts';
import { signVideos, type VideoSigningDeps } from './signing/videosigning.ts';
import { type WatermarkDeps, watermarkImage } from './watermarks/imagewatermark.ts';
import { type VideoWatermarkDeps, watermarkVideo } from './watermarks/videowatermark.ts';

export type RouteDeps = ReservationDeps &
  PendingDeps &
  RegistrationDeps &
  CopyDeps &
  ImportDeps &
  ListingDeps &
  ScopeDeletionDeps &
  SigningDeps &
  VideoSigningDeps &
  FitSigningDeps &
  WatermarkDeps &
  OneAssetDeps &
  VideoWatermarkDeps;

export function addRoutes(app: HttpServer, access: Access, deps: RouteDeps): void {
  const routes = routesOf(app, 'media');

  routes.post(
    '/v1/uploads',
    access.userOrInternal,
    { summary: 'Reserve an asset id and an upload URL', body: uploadRequest, response: { 200: uploadReservation } },
    async (request) => reserveUpload(deps, request.caller, request.body),
  );

  routes.post(
    '/v1/uploads/sign-pending',
    access.internalOnly,
    {
      summary: 'Sign a read URL of an uploaded object that is not registered yet',
      body: pendingRequest,
      response: { 200: pendingObject },
    },
    async (request) => signPending(deps, request.body),
  );

  routes.post(
    '/v1/assets',
    access.userOrInternal,
    {
      summary: 'Register an uploaded object as an asset',
      body: registrationRequest,
      response: { 200: asset.describe('The asset was already registered.'), 201: asset },
    },
    async (request, reply) => {
      const registration = await registerAsset(deps, request.caller, request.body);
      return reply.code(registration.created ? 201 : 200).send(registration.asset);
    },
  );

  routes.get(
    '/v1/assets',
    access.userOrInternal,
    { summary: 'List the assets of an owner, newest first', querystring: assetListing, response: { 200: assetPage } },
    async (request) => listAssets(deps, request.caller, request.query),
  );

  routes.get(
    '/v1/assets/:assetId',
    access.userOrInternal,
    { summary: 'Read an asset', params: assetParams, response: { 200: asset } },
    async (request) => readAsset(deps, request.caller, request.params.assetId),
  );

  routes.patch(
    '/v1/assets/:assetId',
    access.userOrInternal,
    {
      summary: 'Change the thumbnail or the metadata of a video or an audio file',
      params: assetParams,
      body: assetChange,
      response: { 200: asset },
    },
    async (request) => changeAsset(deps, request.caller, request.params.assetId, request.body),
  );

  routes.get(
    '/v1/usage',
    access.userOrInternal,
    { summary: 'Count the assets and bytes of an owner', querystring: usageQuery, response: { 200: ownerUsage } },
    async (request) => readUsage(deps, request.caller, request.query.ownerId),
  );

  routes.post(
    '/v1/assets/legacy',
    access.internalOnly,
    {
      summary: 'Register a file of the legacy backend as an asset',
      body: legacyImport,
      response: { 200: asset.describe('The asset was already registered.'), 201: asset },
    },
    async (request, reply) => {
      const registration = await importFile(deps, request.body);
      return reply.code(registration.created ? 201 : 200).send(registration.asset);
    },
  );

  routes.delete(
    '/v1/assets',
    access.userOrInternal,
    {
      summary: 'Delete up to 1000 assets with their watermark files, variants and thumbnails',
      body: assetsDeletion,
      response: { 200: assetsDeleted },
    },
    async (request) => deleteAssets(deps, request.caller, request.body),
  );

  routes.delete(
    '/v1/scope',
    access.userOrInternal,
    {
      summary: 'Delete the assets of a scope, of a scope kind, or of an owner',
      body: scopeDeletion,
      response: { 200: scopeDeleted },
    },
    async (request) => deleteScope(deps, request.caller, request.body),
  );

  routes.post(
    '/v1/sign/image',
    access.userOrInternal,
    { summary: 'Sign read URLs of up to 200 images', body: signRequest, response: { 200: imageSignedRefs } },
    async (request, reply) => sendJson(reply, await signImages(deps, request.caller, request.body)),
  );

  routes.post(
    '/v1/sign/video',
    access.userOrInternal,
    {
      summary: 'Sign read URLs of up to 200 videos and their thumbnails',
      body: signRequest,
      response: { 200: videoSignedRefs },
    },
    async (request, reply) => sendJson(reply, await signVideos(deps, request.caller, request.body)),
  );

  routes.post(
    '/v1/fit',
    access.userOrInternal,
    {
      summary: 'Sign the URL of an image that fits a size and a number of bytes',
      body: fitRequest,
      response: { 200: fittedImage },
    },
    async (request) => signFit(deps, request.caller, request.body),
  );

  routes.post(
    '/v1/copy',
    access.userOrInternal,
    { summary: 'Copy an asset to another scope', body: copyRequest, response: { 201: asset } },
    async (request, reply) => reply.code(201).send(await copyAsset(deps, request.caller, request.body)),
  );

  routes.post(
    '/v1/watermark',
    access.userOrInternal,
    { summary: 'Sign the URL of an image with a watermark', body: watermarkRequest, response: { 200: watermarked } },
    async (request, reply) => sendJson(reply, await watermarkImage(deps, request.caller, request.body)),
  );

  routes.post(
    '/v1/watermark-video',
    access.userOrInternal,
    {
      summary: 'Sign the URL of a video with a watermark and a closing clip',
      body: watermarkRequest,
      response: { 200: watermarkedVideo },
    },
    async (request, reply) =>
      sendJson(reply, await watermarkVideo(deps, request.caller, request.body, reply.abandoned)),
  );
}
