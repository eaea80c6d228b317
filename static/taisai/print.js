window.addEventListener("load", () => window.print());
