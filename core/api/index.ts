export { ARCHIVE_FORMATS, type ArchiveFormat } from './archive-format.ts';
export { type ArchiveParameters, parseArchiveParameters } from './archive-parameters.ts';
export { FEED_FORMATS, type FeedParameters, parseFeedParameters } from './feed-parameters.ts';
export { parseLinkParameter } from './link-parameter.ts';
export { openApiDocument, privateOpenApiDocument } from './openapi.ts';
export {
  type FunctionOperationId,
  getOperation,
  type Operation,
  type OperationId,
  operations,
  type StreamOperationId,
} from './operations.ts';
export { Problem, type ProblemDetails, problems, toProblem, toStreamProblem } from './problem.ts';
export { parseQualityParameters, type QualityParameters } from './quality-parameters.ts';
export type * as schema from './schemas.ts';
export type { AppInfo, RequestCount } from './schemas.ts';
export {
  type ClipParameters,
  type ConversionParameters,
  parseClipParameters,
  parseConversionParameters,
  parseSubtitlesParameter,
} from './stream-parameters.ts';
