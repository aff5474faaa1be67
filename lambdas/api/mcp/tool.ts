import type { JsonSchemaType } from '@modelcontextprotocol/server';
import type { Event, InvocationContext } from '../../middleware/index.ts';
import type { ResolvedRequest } from '../resolve-request.ts';

/** A tool of the Model Context Protocol. It only reads. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses the tool. */
  readonly description: string;
  /** JSON Schema of its arguments, an object. */
  readonly input: JsonSchemaType;
  /** JSON Schema of an answer that is an object. Absent: the answer is text. */
  readonly output?: JsonSchemaType;
  /**
   * @param args as `input` describes them
   * @throws what the answer says in words
   */
  run(args: Readonly<Record<string, string>>, call: ToolCall): Promise<object | string>;
}

/** The request by which a tool is called. */
export interface ToolCall {
  readonly event: Event;
  readonly context: InvocationContext;
  /** The base URL by which clients reach the instance, without a slash at the end. @throws Problem when it is not known */
  baseUrl(): string;
  /** Resolves a link as GetResource does; entries of a list stay as the list describes them. @throws as `createResolveRequest` */
  resolve(url: string): Promise<ResolvedRequest>;
}

const nullableText = { type: ['string', 'null'] } as const;

export const LINK_INPUT = {
  type: 'string',
  description: 'The http or https address of the page with the video, the song or the list',
} as const;

const FILES = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      label: { type: 'string' },
      description: nullableText,
      fileExtension: { type: 'string' },
      fileSizeBytes: { type: ['integer', 'null'] },
      downloadUrl: { type: 'string' },
    },
    required: ['label', 'description', 'fileExtension', 'fileSizeBytes', 'downloadUrl'],
  },
} as const;

const HEAD = { title: nullableText, author: nullableText, coverUrl: nullableText } as const;

/** What `describeMedia` returns. */
export const MEDIA_OUTPUT: JsonSchemaType = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['Media', 'PlayList'] },
    ...HEAD,
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...HEAD, sourceUrl: { type: 'string' }, video: FILES, audio: FILES },
        required: ['title', 'author', 'sourceUrl', 'coverUrl', 'video', 'audio'],
      },
    },
  },
  required: ['type', 'title', 'author', 'coverUrl', 'items'],
};
