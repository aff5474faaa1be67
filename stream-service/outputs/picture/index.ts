export { type Covers, type CoversDependencies, createCovers } from './covers.ts';
