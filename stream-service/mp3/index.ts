export * from './create-mp3.ts';
