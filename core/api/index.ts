export {
  EVENT_STREAM_HEADERS,
  parseJobId,
  progressEvent,
  reconnectLines,
  UNKNOWN_JOB_MS,
  waitingSince,
} from './archive-progress.ts';
export {
  contactLines,
  renderOperationTables,
  SECURITY_TEXT_PATH,
  SECURITY_TEXT_VALID_MS,
  securityText,
} from './documents.ts';
export { openApiDocument, privateOpenApiDocument } from './openapi.ts';
export {
  type FunctionOperationId,
  MAX_BODY_BYTES,
  type OperationId,
  operations,
  operationsById,
  readsBody,
  routes,
  type StreamOperationId,
} from './operations.ts';
export { MAX_WINDOW_SEGMENTS } from './parameters.ts';
export { createProblem, Problem, type ProblemDetails, problems, toProblem, toStreamProblem } from './problem.ts';
export { problemPages, renderProblem } from './problem-pages.ts';
export { type ProblemName, problemNameOf, sayProblem, TYPE_REFERENCES } from './problem-types.ts';
export { type Query, readSelection, streamPath, writeSelection } from './query.ts';
export { IS_ALWAYS_THERE, IS_NEVER_NULL, type Schema, schemas } from './schemas.ts';
export {
  type EntrySelection,
  type FeedFormat,
  isPlain,
  isSelected,
  type Quality,
  type Selection,
  selectedPart,
  type WindowSelection,
} from './selection.ts';
