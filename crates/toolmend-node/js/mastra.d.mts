export * from './mastra.cjs';
