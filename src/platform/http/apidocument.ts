/** The part of an OpenAPI 3.1 document that this project writes and shows. */

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes?: Readonly<Record<string, unknown>>;
  };
  /** Types of the typed client that are parts of others, with their positions. */
  readonly 'x-client-types'?: Readonly<Record<string, readonly string[]>>;
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses?: Readonly<Record<string, ResponseObject>>;
  /** The names of the typed client for this operation. */
  readonly 'x-client'?: ClientFunction;
}

/** The typed client's function for a route. */
export interface ClientFunction {
  /** The type names of the body, the query and the response, if they are not those of exported schemas. */
  readonly body?: string;
  readonly query?: string;
  readonly answer?: string;
  /** A POST that is safe to repeat, because it only reads or creates a resource once. GET, PUT and DELETE always are. */
  readonly repeatable?: true;
  readonly cookies?: true;
  /**
   * A URL for the browser, an HTML page, a file, the stream of a run, the events of a user, or an endpoint for other clients,
   * which has no function.
   */
  readonly kind?: 'address' | 'page' | 'file' | 'stream' | 'events' | 'foreign';
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}
