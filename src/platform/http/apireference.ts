/** The texts of the API reference. Each route declares its own (routes.ts); a service adds the description of its tags and problems. */
import { z } from 'zod';
import type { ProblemDefinition } from '../problem.ts';
import type { ClientFunction, Schema } from './apidocument.ts';

/** The texts of a route. They are a part of its schema. */
export interface RouteTexts {
  /** The `operationId`. It is also the name of the typed client's function. */
  readonly id?: string;
  readonly summary?: string;
  readonly description?: string;
  /** Codes beyond those that the credential and the body of a route imply. */
  readonly problems?: readonly string[];
  /** An example of the request body. */
  readonly example?: unknown;
  /** Successful responses without a schema, by status: a description, and the content type if there is a body. */
  readonly otherResponses?: Readonly<Record<number, readonly [description: string, contentType?: string]>>;
  /** The path in the document, if the route has a wildcard. */
  readonly documentedPath?: string;
  /** The route reads the session cookie. */
  readonly readsSession?: true;
  readonly client?: ClientFunction;
}

export interface ApiReference {
  /** One or two sentences about the service. */
  readonly description: string;
  /** The description of each tag. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly problems?: Readonly<Record<string, ProblemDefinition>>;
  /** Fields that the bodies of some problems have in addition, by code. */
  readonly problemFields?: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  /** The name of the session cookie, for routes that read it. */
  readonly sessionCookie?: string;
  /** Types of the typed client that are parts of others, with their positions. */
  readonly clientTypes?: Readonly<Record<string, readonly string[]>>;
}

/** The schema of an endpoint that every service has. */
export const describeOperation = (texts: RouteTexts) => ({ tags: ['operations'], ...texts });

/** The names of schemas. The generator of the typed client fills it with the exports of the files `*api.ts` and `*routes.ts`. */
export const schemaNames = z.registry<{ readonly name: string }>();
