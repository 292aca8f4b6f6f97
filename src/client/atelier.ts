/** The client of all seven services. Create it once, with the URLs that an application needs. */
import type { ImagesRequest, VideosRequest } from './agent/api.ts';
import { agentCalls } from './agent/calls.ts';
import { authCalls } from './auth/calls.ts';
import type { Access } from './calling.ts';
import { contentCalls } from './content/calls.ts';
import { type Generating, imagesOf, videosOf } from './generating.ts';
import { imageCalls } from './image/calls.ts';
import { mediaCalls } from './media/calls.ts';
import { memoryCalls } from './memory/calls.ts';
import { notifyCalls } from './notify/calls.ts';

export type * from './agent/api.ts';
export type { AgentCalls } from './agent/calls.ts';
export type * from './auth/api.ts';
export type { AuthCalls } from './auth/calls.ts';
export type { Access, AccessTokenSource, CallOptions, Credential, KeyedOptions } from './calling.ts';
export type { RunChunk } from './chunks.ts';
export type { ProblemCode } from './codes.ts';
export type * from './content/api.ts';
export type { ContentCalls } from './content/calls.ts';
export { AtelierError, type ErrorCode, type FieldIssue, ThreadBusy } from './errors.ts';
export type { GenerateOptions, Generating } from './generating.ts';
export type * from './image/api.ts';
export type { ImageCalls } from './image/calls.ts';
export type * from './media/api.ts';
export type { MediaCalls } from './media/calls.ts';
export type * from './memory/api.ts';
export type { MemoryCalls } from './memory/calls.ts';
export type * from './notify/api.ts';
export type { NotifyCalls } from './notify/calls.ts';
export type { Patience } from './pausing.ts';
export type { UploadProgress } from './putting.ts';
export { createSession, type Session } from './session.ts';
export { createUpload, type Upload, type UploadAccess, type UploadDetails, type UploadOptions } from './upload.ts';
export type { EventsOptions, UserEvent } from './userevents.ts';
export { validParts } from './validparts.ts';

const services = {
  media: mediaCalls,
  image: imageCalls,
  auth: authCalls,
  agent: agentCalls,
  memory: memoryCalls,
  content: contentCalls,
  notify: notifyCalls,
};
type ServiceName = keyof typeof services;

/** The URL of each service that is called. */
export type Addresses = { readonly [Name in ServiceName]?: string };

export type Atelier<Urls extends Addresses> = {
  readonly [Name in keyof Urls & ServiceName]: ReturnType<(typeof services)[Name]>;
} & (Urls extends { readonly agent: string }
  ? { readonly images: Generating<ImagesRequest>; readonly videos: Generating<VideosRequest> }
  : unknown);

export interface AtelierOptions<Urls extends Addresses> extends Omit<Access, 'url'> {
  readonly urls: Urls;
}

/** Returns a client with calls such as `atelier.media.signImages({ refs })`. A failed call throws `AtelierError`. */
export function createAtelier<const Urls extends Addresses>({ urls, ...access }: AtelierOptions<Urls>): Atelier<Urls> {
  const clients = Object.entries(services).flatMap(([name, createCalls]) => {
    const url = urls[name as ServiceName];
    return url === undefined ? [] : [[name, createCalls({ ...access, url })] as const];
  });
  const agent = urls.agent === undefined ? undefined : agentCalls({ ...access, url: urls.agent });
  const generating = agent && { images: imagesOf(agent), videos: videosOf(agent) };
  return { ...Object.fromEntries(clients), ...generating } as Atelier<Urls>;
}
