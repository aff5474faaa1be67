export { createSegments, type Segments } from './segments.ts';
