export { type Choice, type ChoiceGroup, type Choices, choicesOf } from './choices.ts';
export { curlCommand, likelyShell, ytDlpCommand } from './commands.ts';
