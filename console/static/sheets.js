// Play contact sheets: frames of a whole template in one picture, five in a row, in a loop.
const COLUMNS = 5, FRAMES_MAX = 25;

// Play a sheet on a canvas. Return a function that stops it. `onTurn` receives the time of each frame in seconds.
export function play(sheet, canvas, { duration, fps }, onTurn = (_moment) => {}) {
  const count = Math.min(FRAMES_MAX, Math.max(1, Math.round(duration * fps))), columns = Math.min(COLUMNS, count);
  const wide = sheet.width / columns, high = sheet.height / Math.ceil(count / columns);
  canvas.width = wide;
  canvas.height = high;
  const began = performance.now(), pen = canvas.getContext("2d");
  let running = 0;
  const turn = (time) => {
    const at = (Math.max(0, time - began) / 1000) % duration, index = Math.min(count - 1, Math.floor((at / duration) * count));
    pen.drawImage(sheet, (index % columns) * wide, Math.floor(index / columns) * high, wide, high, 0, 0, wide, high);
    onTurn(at);
    running = requestAnimationFrame(turn);
  };
  running = requestAnimationFrame(turn);
  return () => cancelAnimationFrame(running);
}
