export { createFanOut, createResolveEntry, type EntryEvent } from './fan-out.ts';
export { createAppAnswers, createFunctions, createResolvingAnswers } from './functions.ts';
export { createGetApiDescription } from './get-api-description.ts';
